//! Tail-called handlers need the optimizer: without it every bytecode would deepen the native stack.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(tail_dispatch)");
    println!("cargo::rerun-if-changed=build.rs");
    let optimized = std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0");
    let target = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if optimized && (target == "x86_64" || target == "aarch64") {
        println!("cargo::rustc-cfg=tail_dispatch");
    }
}
