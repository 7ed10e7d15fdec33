//! Specifications of profilers are written as they are read, and what is wrong with one is named.

use super::*;

fn refused(text: &str) -> String {
    text.parse::<ProfileSpec>().expect_err("it is wrong")
}

#[test]
fn specs_are_read() {
    assert_eq!("edges".parse(), Ok(ProfileSpec::Edges));
    assert_eq!("blpp".parse(), Ok(ProfileSpec::Blpp(Storage::Array)));
    assert_eq!("blpp:storage=hash".parse(), Ok(ProfileSpec::Blpp(Storage::Hash)));
    let window = Parameters::new(Shape::Simplified, 64, 17).expect("in range");
    let pep = PepOptions { window, placement: Placement::Smart, turns: false };
    assert_eq!("pep".parse(), Ok(ProfileSpec::Pep(pep)));
    let window = Parameters::new(Shape::ArnoldGrove, 16, 3).expect("in range");
    let pep = PepOptions { window, placement: Placement::Hot, turns: false };
    let text = "pep:stride=3,samples=16,schedule=arnold-grove,placement=hot";
    assert_eq!(text.parse(), Ok(ProfileSpec::Pep(pep)));
    assert_eq!("kblpp:k=3".parse(), Ok(ProfileSpec::Kblpp(K::new(3).expect("in range"))));
    assert_eq!("calls".parse(), Ok(ProfileSpec::Calls));
    let window = Parameters::new(Shape::ArnoldGrove, 16, 3).expect("in range");
    let cbs = CbsOptions { window, at: CallsAt::Prologue, depth: 1, decay: 0, credit: false };
    assert_eq!("cbs".parse(), Ok(ProfileSpec::Cbs(cbs)));
    let cbs = CbsOptions { at: CallsAt::Both, depth: 0, decay: 1000, ..cbs };
    assert_eq!("cbs:at=both,depth=all,decay=1000".parse(), Ok(ProfileSpec::Cbs(cbs)));
}

#[test]
fn specs_are_written_as_they_are_read() {
    for text in [
        "edges",
        "calls",
        "cbs:samples=16,stride=3,schedule=arnold-grove,at=both",
        "cbs:schedule=timer,at=prologue,depth=5,decay=100,credit=paths",
        "cbs:samples=1,stride=7,schedule=simplified,at=both,skip=jikes,overrun=cancel,seed=1,depth=all",
        "oneshot:burst=30,level=o1",
        "icache:entries=4,sites=all",
        "blpp:storage=hash",
        "btb:depth=4,period=100,backend=recorder,cap=64,weights=equal",
        "btb:depth=4,period=100,backend=recorder,cap=64,weights=unique",
        "btb:depth=16,ticks=1,backend=recorder,cap=1024,weights=em,cold=2,spread=0,seed=7,calls=split,noise=5,exact=yes",
        "btb:depth=16,period=4099,backend=recorder,cap=1024,weights=em,calls=hot",
        "btb:depth=16,period=4099,backend=recorder,cap=1024,weights=em,calls=hot,hot=5,exact=yes",
        "btb:depth=32,ticks=2,backend=burst,cap=1024,weights=em",
        "btb:depth=32,ticks=2,backend=burst,cap=1024,weights=em,analysis=background",
        "btb:depth=32,period=100003,backend=lbr,cap=1024,weights=em",
        "btb:depth=16,ticks=1,backend=step,cap=1024,weights=em",
        "btb:depth=32,period=7,ticks=3,backend=recorder,cap=2,weights=prior-em",
        "subpaths:max-length=64,top=10",
        "subpaths:max-length=32,top=1000,until=9,census=no",
        "osp:memory=32768,rate=1000,max-length=32,encoding=rotation,skip=decrement",
        "osp:memory=65536,rate=2,max-length=1000,lengths=arbitrary,encoding=xor,skip=call,estimator=paper,seed=3",
        "osp:memory=65536,rate=9,max-length=8,bias=longer,starts=loops,encoding=rolling,skip=call",
        "osp:memory=65536,rate=9,max-length=8,encoding=random-xor,skip=burst,ageing=decay,epoch=5,keep=10",
        "osp:memory=65536,rate=9,max-length=8,encoding=rolling,skip=call,ageing=window,epoch=5",
        "osp:memory=65536,rate=9,max-length=8,encoding=rolling,skip=call,list=concise",
        "osp:memory=65536,rate=9,max-length=8,encoding=rolling,skip=call,estimator=paper,list=counting",
        "kblpp:k=16",
        "pep:schedule=timer,placement=naive",
        "pep:samples=64,stride=17,schedule=simplified,placement=smart",
        "pep:samples=64,stride=17,schedule=simplified,placement=smart,code=turns",
        "pep:samples=2,stride=3,schedule=arnold-grove,placement=hot,skip=random,overrun=restart,seed=7",
    ] {
        assert_eq!(text.parse::<ProfileSpec>().map(|spec| spec.to_string()), Ok(text.to_string()));
    }
}

#[test]
fn what_is_wrong_is_named_with_what_would_be_right() {
    for (text, part) in [
        ("paths", "there are edges, blpp, pep, kblpp, kroy, calls, cbs, oneshot, icache, btb, subpaths, osp"),
        ("edges:k=1", "`edges` has no keys"),
        ("kroy:k=1", "k is a number from 2 to 64"),
        ("kroy:k=65", "k is a number from 2 to 64"),
        ("pep:sample=3", "its keys are samples"),
        ("pep:samples", "key=value"),
        ("pep:samples=0", "samples is 0"),
        ("pep:stride=x", "stride is a number from 1"),
        ("pep:stride=1,stride=2", "given twice"),
        ("pep:schedule=timer,stride=2", "no stride"),
        ("kblpp:k=1", "from 2 to 1024"),
        ("kblpp:k=9999", "from 2 to 1024"),
        ("blpp:storage=disk", "`array` or `hash`"),
        ("calls:at=both", "`calls` has no keys"),
        ("cbs:at=epilogue", "at is `prologue` or `both`"),
        ("cbs:depth=0", "depth is a number from 1 to 1000000, or `all`"),
        ("cbs:decay=half", "decay is a number of samples"),
        ("cbs:schedule=timer,samples=2", "no samples"),
        ("oneshot:burst=0", "burst is a number from 1"),
        ("oneshot:level=o3", "level is `o0`, `o1` or `o2`"),
        ("icache:entries=0", "entries is a number from 1 to 1024"),
        ("icache:sites=some", "sites is `tables` or `all`"),
        ("btb:depth=0", "depth is a number of branches from 1 to 65536"),
        ("btb:period=0", "both are 0"),
        ("btb:cap=1", "from 2 to 65536"),
        ("btb:weights=some", "weights is `em`, `equal`, `prior`, `prior-em` or `unique`"),
        ("btb:backend=brs", "backend is `recorder`, `burst`, `lbr` or `step`"),
        ("btb:backend=lbr,ticks=3", "no ticks"),
        ("btb:backend=step,depth=5000", "depth is"),
        ("btb:backend=step,period=9", "no period"),
        ("btb:backend=step,analysis=background", "no analysis in the background"),
        ("btb:analysis=later", "analysis is `end` or `background`"),
        ("btb:backend=lbr,exact=yes", "no exact counts"),
        ("btb:calls=join", "calls is `rejoin`, `split` or `hot`"),
        ("btb:calls=hot,hot=101", "hot is a number from 0 to 100"),
        ("btb:hot=2", "for calls=hot"),
        ("btb:calls=hot,backend=step", "no calls=hot"),
        ("btb:noise=101", "noise is a number from 0 to 100"),
        ("btb:backend=step,noise=1", "no noise"),
        ("btb:backend=burst,period=9", "no period"),
        ("btb:backend=burst,exact=yes", "no exact counts"),
        ("subpaths:max-length=3", "a power of two from 2 to 8192"),
        ("subpaths:max-length=16384", "a power of two from 2 to 8192"),
        ("subpaths:top=0", "from 1 to 1000000"),
        ("subpaths:census=maybe", "census is `no` or `yes`"),
        ("osp:memory=1t", "memory is a number of bytes from 1 to 1073741824"),
        ("osp:memory=1000", "osp: memory cannot be 1000; valid: "),
        ("osp:rate=1", "rate is a number of blocks from 2"),
        ("osp:max-length=1", "a power of two from 2 to 8192"),
        ("osp:lengths=arbitrary,max-length=9000", "any number from 2 to 8192"),
        ("osp:lengths=arbitrary,bias=longer", "no bias"),
        ("osp:encoding=sum", "`rotation`, `xor`, `random-xor` or `rolling`"),
        ("osp:starts=loops,encoding=xor", "needs encoding=rolling"),
        ("osp:starts=loops,skip=burst", "needs skip=call"),
        ("osp:skip=burst,estimator=paper", "estimator=paper needs"),
        ("osp:list=all", "list is `counting` or `concise`"),
        (
            "osp:ageing=decay,list=counting",
            "ageing cannot be decay; valid: none or window, for a counting sample",
        ),
        ("osp:epoch=9", "epoch is of ageing"),
        ("osp:ageing=window,keep=9", "keep of ageing=decay"),
        ("osp:ageing=decay,keep=100", "keep is a number from 1 to 99"),
        ("osp:skip=never", "skip is `decrement`, `call`, `burst` or `versions`"),
    ] {
        assert!(refused(text).contains(part), "{text}: {}", refused(text));
    }
    let mut options = ProfileOptions::default();
    assert_eq!(options.add(ProfileSpec::Edges), Ok(()));
    assert!(options.add(ProfileSpec::Edges).is_err());
}
