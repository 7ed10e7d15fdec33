//! What the class declarations say about each other, independent of type arguments: which methods are ever overridden.
//!
//! The whole program is known, so a method that nothing overrides is called directly although it is not marked `final`,
//! and takes no place in a method table unless an interface needs it there.

use super::Declarations;
use crate::typed::{ClassIndex, FixedHasher, FunctionIndex, Method, TyKind, Types};
use hashbrown::HashSet;

/// Which methods are overridden where.
pub(super) struct Hierarchy<'p> {
    /// Class and name of a method: some class below declares a method of that name.
    overridden: HashSet<(ClassIndex, &'p str), FixedHasher>,
}

impl<'p> Hierarchy<'p> {
    /// Looks at all classes once.
    pub(super) fn new(declarations: &'p Declarations, types: &Types) -> Hierarchy<'p> {
        let mut overridden = HashSet::default();
        for class in &declarations.classes {
            let mut above = class.superclass;
            while let Some(TyKind::Class(ancestor, _)) = above.map(|ty| types.kind(ty)) {
                for method in class.methods.iter().filter(|method| !method.direct) {
                    overridden.insert((*ancestor, &*method.name));
                }
                above = declarations.classes[ancestor.index()].superclass;
            }
        }
        Hierarchy { overridden }
    }

    /// Does a class below `class` have a method of this name.
    pub(super) fn is_overridden(&self, class: ClassIndex, name: &'p str) -> bool {
        self.overridden.contains(&(class, name))
    }
}

impl Declarations {
    /// Must the method have a slot in the table of its class.
    pub(super) fn needs_slot<'p>(
        &'p self,
        class: ClassIndex,
        method: &'p Method,
        hierarchy: &Hierarchy<'p>,
    ) -> bool {
        let is_abstract = self.functions[method.function.index()].body.is_none();
        method.overrides || is_abstract || hierarchy.is_overridden(class, &method.name)
    }

    /// The name of a method without its class.
    pub(super) fn method_name(&self, method: FunctionIndex) -> &str {
        let name = &self.functions[method.index()].name;
        name.rsplit('.').next().unwrap_or(name)
    }
}
