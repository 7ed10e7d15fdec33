//! The class hierarchy of a program, and what calls through tables can reach. The program is closed: there are no
//! classes but those it has. What is more, only classes of which there are instances can be receivers: a
//! compilation may rely on a class having none yet, and says so in its assumptions.

use holloway_bytecode::{ClassId, FunctionId, InterfaceId, Program, Shape};

/// Subclasses and implementors.
pub struct Hierarchy {
    /// For each class, all concrete classes that are it or extend it, in order.
    below: Vec<Vec<ClassId>>,
    /// For each interface, all concrete classes that implement it, in order.
    implementors: Vec<Vec<ClassId>>,
}

impl Hierarchy {
    /// The hierarchy of a program.
    pub fn of(program: &Program) -> Hierarchy {
        let mut below = vec![Vec::new(); program.classes.len()];
        let mut implementors = vec![Vec::new(); program.interfaces.len()];
        for (index, class) in program.classes.iter().enumerate().filter(|(_, class)| !class.is_abstract) {
            let id = ClassId(index as u32);
            let mut at = Some(id);
            while let Some(ancestor) = at {
                below[ancestor.index()].push(id);
                at = program.classes[ancestor.index()].superclass;
            }
            for implementation in &class.interfaces {
                implementors[implementation.interface.index()].push(id);
            }
        }
        Hierarchy { below, implementors }
    }

    /// The concrete classes of which a non-null reference of this shape can be; `None` if it says nothing.
    pub fn classes(&self, shape: Shape) -> Option<&[ClassId]> {
        match shape {
            Shape::Any => None,
            Shape::Class(class) => Some(&self.below[class.index()]),
            Shape::Interface(interface) => Some(&self.implementors[interface.index()]),
        }
    }

    /// Does nothing extend the class.
    pub fn is_leaf(&self, program: &Program, class: ClassId) -> bool {
        !program.classes[class.index()].is_abstract && self.below[class.index()].len() == 1
    }
}

/// The method in a slot of a concrete class.
pub fn virtual_target(program: &Program, class: ClassId, slot: u32) -> Option<FunctionId> {
    program.classes[class.index()].methods.get(slot as usize)?.function
}

/// The method by which a class implements a method of an interface.
pub fn interface_target(
    program: &Program,
    class: ClassId,
    interface: InterfaceId,
    method: u32,
) -> Option<FunctionId> {
    let class = &program.classes[class.index()];
    let implementation = class.interfaces.iter().find(|i| i.interface == interface)?;
    let slot = *implementation.slots.get(method as usize)?;
    class.methods.get(slot as usize)?.function
}
