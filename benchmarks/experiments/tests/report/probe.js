// Looks at the page from within and writes down what it saw. Runs in tests only.
window.addEventListener("load", function () {
  var seen = { charts: 0, marks: 0, broken: [], outside: [], links: 0, errors: window.probeErrors };
  document.documentElement.style.scrollBehavior = "auto";
  function box(one) { return one.getBoundingClientRect(); }
  document.querySelectorAll("svg.chart").forEach(function (chart) {
    seen.charts += 1;
    var frame = box(chart);
    if (!(frame.width > 60 && frame.height > 30)) seen.broken.push("a chart of " + frame.width + " by " + frame.height);
    var marks = chart.querySelectorAll(".m");
    if (!marks.length) seen.broken.push("a chart without marks: " + chart.getAttribute("aria-label"));
    marks.forEach(function (mark) {
      seen.marks += 1;
      var own = box(mark);
      if (!(own.width > 0 && own.height > 0)) seen.broken.push("an empty mark: " + mark.dataset.tip);
    });
    // Text that is cut off or runs into the margin.
    chart.querySelectorAll("text").forEach(function (text) {
      var own = box(text);
      if (own.left < frame.left - 3 || own.right > frame.right + 3 || own.top < frame.top - 3 || own.bottom > frame.bottom + 3) {
        seen.outside.push(text.textContent);
      }
    });
    chart.querySelectorAll(".node").forEach(function (node) {
      var around = box(node.querySelector("rect"));
      node.querySelectorAll("text").forEach(function (text) {
        var own = box(text);
        if (own.left < around.left || own.right > around.right) seen.outside.push("node " + text.textContent);
      });
    });
    chart.querySelectorAll(".cell + .value").forEach(function (text) {
      var own = box(text), around = box(text.previousElementSibling);
      if (own.left < around.left || own.right > around.right) seen.outside.push("cell " + text.textContent);
    });
  });
  seen.sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  seen.listings = document.querySelectorAll(".listing tr.on").length;

  // Hovering says the numbers of a mark.
  var mark = document.querySelector("svg.chart .m");
  mark.scrollIntoView({ block: "center" });
  var place = box(mark);
  mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: place.left + 2, clientY: place.top + 2 }));
  var tip = document.querySelector(".tip");
  seen.tip = tip.classList.contains("shown") ? tip.innerText : "";
  var tipPlace = box(tip);
  seen.tipInside = tipPlace.left >= 0 && tipPlace.right <= window.innerWidth && tipPlace.top >= 0;

  // The switch changes the ground.
  seen.before = getComputedStyle(document.body).backgroundColor;
  document.getElementById("switch").click();
  seen.after = getComputedStyle(document.body).backgroundColor;
  document.getElementById("switch").click();
  seen.again = getComputedStyle(document.body).backgroundColor;

  // Links lead to their places.
  var links = Array.prototype.slice.call(document.querySelectorAll("a[href^='#']"));
  function next() {
    var link = links.shift();
    if (!link) return finish();
    if (link.classList.contains("skip")) return next();
    window.scrollTo(0, 0);
    link.click();
    setTimeout(function () {
      var target = document.getElementById(link.getAttribute("href").slice(1));
      var top = box(target).top;
      var end = window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 2;
      seen.links += 1;
      if (!(top > -5 && (top < 60 || end || window.scrollY === 0))) seen.broken.push("a link to " + target.id + " ends at " + top);
      next();
    }, 0);
  }
  function finish() {
    var out = document.createElement("pre");
    out.id = "probe";
    out.textContent = JSON.stringify(seen);
    document.body.appendChild(out);
  }
  next();
});
