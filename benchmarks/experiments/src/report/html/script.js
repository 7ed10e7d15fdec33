// What a page cannot do by itself: numbers beside the pointer, a switch for dark, a mark for where one reads.
// Without it everything is still there: titles of marks, tables of numbers, links to download.
(function () {
  "use strict";
  var root = document.documentElement;

  // The switch. The choice is kept if the browser lets a local page keep anything.
  var button = document.getElementById("switch");
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  }
  function name() {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", "Switch to " + button.textContent.toLowerCase());
  }
  try {
    var kept = window.localStorage.getItem("holloway-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch (error) { /* nothing is kept */ }
  button.hidden = false;
  name();
  dark.addEventListener("change", name);
  button.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { window.localStorage.setItem("holloway-theme", root.dataset.theme); } catch (error) { /* nothing is kept */ }
    name();
  });

  // Titles within drawings become labels, so that the browser's own box does not cover ours.
  document.querySelectorAll("svg title").forEach(function (title) {
    var owner = title.parentNode;
    var text = title.textContent;
    if (owner.classList.contains("m")) owner.dataset.tip = text;
    owner.setAttribute("aria-label", text.replace(/\n/g, ", "));
    if (owner.tagName === "svg") owner.removeAttribute("aria-labelledby");
    title.remove();
  });
  var box = document.createElement("div");
  box.className = "tip";
  box.setAttribute("role", "status");
  document.body.appendChild(box);
  var shown = null;
  function show(mark, x, y) {
    if (mark !== shown) {
      shown = mark;
      box.textContent = "";
      mark.dataset.tip.split("\n").forEach(function (line, index) {
        var part = document.createElement(index ? "div" : "b");
        part.textContent = line;
        box.appendChild(part);
      });
      box.classList.add("shown");
    }
    var wide = root.clientWidth;
    var left = Math.min(Math.max(8, x + 14), wide - box.offsetWidth - 8);
    var top = y - box.offsetHeight - 14;
    box.style.left = Math.max(8, left) + "px";
    box.style.top = (top < 8 ? y + 18 : top) + "px";
  }
  function hide() {
    shown = null;
    box.classList.remove("shown");
  }
  document.addEventListener("pointermove", function (event) {
    var mark = event.target.closest && event.target.closest("[data-tip]");
    if (mark) show(mark, event.clientX, event.clientY); else if (shown) hide();
  });
  document.addEventListener("pointerdown", function (event) {
    var mark = event.target.closest && event.target.closest("[data-tip]");
    if (mark) show(mark, event.clientX, event.clientY); else hide();
  });
  window.addEventListener("scroll", hide, { passive: true, capture: true });

  // Pointing at a name in a legend leaves its line alone.
  document.querySelectorAll("ul.legend li").forEach(function (item) {
    var figure = item.closest("figure");
    function only(on) {
      figure.querySelectorAll("[data-series]").forEach(function (one) {
        one.classList.toggle("dim", on && one.dataset.series !== item.dataset.of);
      });
    }
    item.addEventListener("pointerenter", function () { only(true); });
    item.addEventListener("pointerleave", function () { only(false); });
  });

  // The contents: folded where they would stand in the way, and with a mark for where one reads.
  var contents = document.querySelector("nav.contents details");
  if (window.matchMedia("(max-width: 1099px)").matches) contents.open = false;
  var links = {};
  contents.querySelectorAll("a").forEach(function (link) { links[link.getAttribute("href").slice(1)] = link; });
  var current = null;
  var watcher = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      var link = links[entry.target.id];
      if (!entry.isIntersecting || !link || link === current) return;
      if (current) current.removeAttribute("aria-current");
      current = link;
      link.setAttribute("aria-current", "true");
      var list = contents.parentNode;
      var low = link.offsetTop - list.scrollTop;
      if (low < 40 || low > list.clientHeight - 40) list.scrollTop = link.offsetTop - list.clientHeight / 2;
    });
  }, { rootMargin: "-10% 0px -80% 0px" });
  Object.keys(links).forEach(function (id) {
    var section = document.getElementById(id);
    if (section) watcher.observe(section);
  });
})();
