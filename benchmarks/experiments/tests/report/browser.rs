//! The page in a real browser: opened, looked at, hovered over and clicked on, without a window.
//!
//! The browser is what `CHROMIUM` names, else the first of its usual names in the path. Without one these tests say so and pass.

use crate::{png, value, xml};
use holloway_experiments::report::html;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// Collects what goes wrong, from before anything else in the page.
const EARS: &str = "<script>window.probeErrors = [];\
    window.addEventListener('error', function (event) { window.probeErrors.push(String(event.message)); });\
    window.addEventListener('securitypolicyviolation', function (event) { window.probeErrors.push('load ' + event.blockedURI); });\
    ['error', 'warn'].forEach(function (name) { console[name] = function (text) { window.probeErrors.push(String(text)); }; });\
    </script>";

/// The browser, or nothing after saying so.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        assert!(named.exists(), "CHROMIUM names {}, which is not there", named.display());
        return Some(named);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|place| place.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium in the path; install one or name it in the variable CHROMIUM");
    }
    found
}

/// A folder of one visit, removed after it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        // Tests run beside one another, and a browser does not share its folder.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("report-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder for the page");
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the build's own folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the browser on a page; what it wrote to its output and what it said.
fn open(browser: &Path, folder: &Folder, page: &Path, size: (u32, u32), more: &[&str]) -> (String, String) {
    let (out, said) = (folder.0.join("out.txt"), folder.0.join("said.txt"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file for its output");
    let mut child = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ])
        .args([
            "--no-first-run",
            "--disable-extensions",
            "--disable-background-networking",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", folder.0.join("user").display()))
        // Time stands still until the page is there, so that a slow machine does not take a picture of half of it.
        .args(["--virtual-time-budget=20000", "--run-all-compositor-stages-before-draw"])
        .arg(format!("--window-size={},{}", size.0, size.1))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&said))
        .spawn()
        .expect("the browser starts");
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the browser can be waited for") {
            let said = std::fs::read_to_string(&said).unwrap_or_default();
            assert!(status.success(), "the browser ended with {status}:\n{said}");
            return (std::fs::read_to_string(&out).unwrap_or_default(), said);
        }
        if begin.elapsed() > Duration::from_secs(90) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the browser did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the probe saw in a window of this size.
fn probed(browser: &Path, size: (u32, u32)) -> serde_json::Value {
    let folder = Folder::new();
    let probe = format!("<script>{}</script></body>", include_str!("probe.js"));
    let page = html::render(&value::invented()).replacen("<head>", &format!("<head>{EARS}"), 1);
    let end = page.rfind("</body>").expect("an end");
    let page = folder.file("page.html", &format!("{}{probe}{}", &page[..end], &page[end + 7..]));
    let (dump, said) = open(browser, &folder, &page, size, &["--dump-dom"]);
    let console: Vec<&str> = said.lines().filter(|line| line.contains(":CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    let seen = dump.split("<pre id=\"probe\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let seen = seen.unwrap_or_else(|| panic!("the probe did not come to its end:\n{said}"));
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&seen).expect("what the probe saw")
}

fn looks_right(seen: &serde_json::Value) {
    let empty = serde_json::json!([]);
    assert_eq!(seen["errors"], empty);
    assert_eq!(seen["broken"], empty);
    assert_eq!(seen["outside"], empty);
    assert_eq!(seen["charts"], 10);
    assert!(seen["marks"].as_u64() > Some(600), "{seen}");
    assert!(seen["listings"].as_u64() > Some(4), "{seen}");
    let elements = xml::read(&html::render(&value::invented())).expect("a page");
    let inside =
        |one: &&xml::Element| one.name == "a" && one.get("href").is_some_and(|to| to.starts_with('#'));
    // All but the one for those who do not see the page.
    assert_eq!(seen["links"], elements.iter().filter(inside).count() - 1);
    assert_eq!(seen["sideways"], 0, "the page scrolls sideways");
    assert!(
        seen["tip"].as_str().is_some_and(|tip| tip.contains("PEP: pep(1,1)") && tip.contains("0.6")),
        "{seen}"
    );
    assert_eq!(seen["tipInside"], true);
    assert_ne!(seen["before"], seen["after"]);
    assert_eq!(seen["before"], seen["again"]);
}

#[test]
fn it_opens_and_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    // A desk, a tablet, a phone.
    for size in [(1400, 900), (900, 700), (390, 800)] {
        looks_right(&probed(&browser, size));
    }
}

#[test]
fn it_is_all_there_without_scripts() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    let page = html::render(&value::invented());
    let without = page.rfind("<script>").expect("a script");
    let page = folder.file("page.html", &format!("{}</body></html>", &page[..without]));
    let picture = folder.0.join("plain.png");
    open(&browser, &folder, &page, (1200, 900), &[&format!("--screenshot={}", picture.display())]);
    shows_something(&picture, (1200, 900), false);
}

#[test]
fn screenshots_show_it_in_light_in_dark_and_on_a_phone() {
    let Some(browser) = browser() else { return };
    for (size, dark) in [((1400, 1000), false), ((1400, 1000), true), ((390, 844), false)] {
        let folder = Folder::new();
        let page = html::render(&value::invented());
        // As the switch would set it.
        let theme = if dark { "dark" } else { "light" };
        let page =
            page.replacen("<html lang=\"en\">", &format!("<html lang=\"en\" data-theme=\"{theme}\">"), 1);
        let page = folder.file("page.html", &page);
        let picture = folder.0.join("page.png");
        open(&browser, &folder, &page, size, &[&format!("--screenshot={}", picture.display())]);
        shows_something(&picture, size, dark);
    }
}

/// The picture has the size asked for, a ground of the right lightness, and enough that is not the ground.
fn shows_something(picture: &Path, size: (u32, u32), dark: bool) {
    let image = png::read(&std::fs::read(picture).expect("a screenshot")).expect("an image");
    assert_eq!((image.width, image.height), (size.0 as usize, size.1 as usize));
    let (ground, share) = image.ground();
    assert_eq!(ground.iter().all(|channel| *channel < 64), dark, "{ground:?}");
    assert_eq!(ground.iter().all(|channel| *channel > 192), !dark, "{ground:?}");
    assert!((0.4..0.97).contains(&share), "{share} of the picture is its ground");
    // In each third of the page something can be seen.
    for third in 0..3 {
        let from = image.height * third / 3 * image.width;
        let until = image.height * (third + 1) / 3 * image.width;
        let drawn = image.pixels[from..until].iter().filter(|pixel| **pixel != ground).count();
        assert!(drawn * 200 > until - from, "almost nothing in part {third}");
    }
}
