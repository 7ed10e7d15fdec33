//! What lowering relies on: a program that checks has no expression of the type of errors left in it.

use super::visit::for_own_exprs;
use crate::pipeline::{InMemory, check};
use crate::typed::{Body, ExprKind, Ty, TypedProgram};

fn assert_no_errors(body: &mut Body, name: &str) {
    for_own_exprs(&mut body.expr, &mut |expr| {
        assert!(expr.ty != Ty::ERROR, "an expression of {name} has the type of errors: {:?}", expr.span);
        if let ExprKind::Closure(closure) = &mut expr.kind {
            let (params, captures) = (closure.params.len(), closure.captures.len());
            for (position, param) in closure.params.iter().enumerate() {
                assert_eq!(param.index(), position, "parameters come first");
            }
            for (position, (_, inner)) in closure.captures.iter().enumerate() {
                assert_eq!(inner.index(), params + position, "captured variables follow");
            }
            assert!(closure.body.locals.len() >= params + captures);
            assert_no_errors(&mut closure.body, name);
        }
    });
}

fn assert_sound(mut program: TypedProgram) {
    for function in &mut program.functions {
        let name = function.name.clone();
        if let Some(body) = &mut function.body {
            assert_no_errors(body, &name);
        }
    }
    for global in &mut program.globals {
        let name = global.name.clone();
        assert_no_errors(&mut global.init, &name);
    }
    for (number, class) in program.classes.iter().enumerate() {
        if let Some(superclass) = class.superclass
            && let crate::typed::TyKind::Class(superclass, _) = program.types.kind(superclass)
        {
            assert!(superclass.index() < number, "the superclass of {} comes after it", class.name);
        }
        assert!(class.fields.iter().all(|field| field.ty != Ty::ERROR));
    }
}

#[test]
fn programs_that_check_are_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check/good");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of test programs is there") {
        let text =
            std::fs::read_to_string(entry.expect("a readable entry").path()).expect("a readable program");
        if text.contains("//! module") {
            continue;
        }
        let loaded = check("main.hol", &InMemory::new().with("main.hol", text));
        assert_sound(loaded.map_err(|failure| failure.diagnostics).expect("a good program").program);
        checked += 1;
    }
    assert!(checked > 5);
}
