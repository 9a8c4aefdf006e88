use super::*;

const CONFIG: CarrierConfig = CarrierConfig { lifetime_ms: 100, budget_bytes: 1_000, flaws: Flaws::NONE };
const ALICE: Did = Did([1; 20]);
const BOB: Did = Did([2; 20]);

fn digest(number: u8) -> Digest {
    [number; 32]
}

fn mail(bytes: usize) -> Bytes {
    Bytes::from(vec![7; bytes])
}

fn kept(carrier: &Carrier, destination: Did) -> Vec<u8> {
    carrier.read(destination).map(|fetched| fetched.digest[0]).collect()
}

#[test]
fn mail_is_kept_in_order_until_it_is_fetched() {
    let mut carrier = Carrier::new(CONFIG);
    for number in 1..=3 {
        assert_eq!(carrier.hold(ALICE, digest(number), &mail(10), WallMs(0)), Ok(vec![]));
    }
    assert_eq!(carrier.hold(ALICE, digest(2), &mail(10), WallMs(0)), Ok(vec![]), "once is enough");
    assert_eq!((kept(&carrier, ALICE), kept(&carrier, BOB)), (vec![1, 2, 3], vec![]));
    assert_eq!((carrier.used_bytes(), carrier.len()), (30, 3));
    assert!(carrier.remove(ALICE, &digest(2)) && !carrier.remove(ALICE, &digest(2)));
    assert!(!carrier.remove(BOB, &digest(1)), "it is not in that inbox");
    assert_eq!((kept(&carrier, ALICE), carrier.used_bytes()), (vec![1, 3], 20));
}

#[test]
fn mail_is_kept_for_its_lifetime_and_not_longer() {
    let mut carrier = Carrier::new(CONFIG);
    carrier.hold(ALICE, digest(1), &mail(10), WallMs(5)).unwrap();
    carrier.hold(BOB, digest(2), &mail(10), WallMs(6)).unwrap();
    assert_eq!(carrier.expire(WallMs(105)), vec![]);
    assert_eq!(carrier.expire(WallMs(106)), vec![PushedOut { destination: ALICE, digest: digest(1) }]);
    assert_eq!((carrier.used_bytes(), carrier.len()), (10, 1));
}

#[test]
fn the_65th_mail_of_an_inbox_pushes_the_oldest_out_and_says_so() {
    let mut carrier = Carrier::new(CONFIG);
    for number in 0..64 {
        assert_eq!(carrier.hold(ALICE, digest(number), &mail(10), WallMs(0)), Ok(vec![]));
    }
    let pushed_out = carrier.hold(ALICE, digest(64), &mail(10), WallMs(0)).unwrap();
    assert_eq!(pushed_out, vec![PushedOut { destination: ALICE, digest: digest(0) }]);
    assert_eq!((carrier.len(), carrier.used_bytes()), (64, 640));
    assert_eq!(
        carrier.hold(BOB, digest(1), &mail(10), WallMs(0)),
        Ok(vec![]),
        "another inbox has its own room"
    );
}

#[test]
fn a_carrier_at_its_budget_refuses_what_is_new_and_keeps_what_it_has() {
    let mut carrier = Carrier::new(CONFIG);
    carrier.hold(ALICE, digest(1), &mail(600), WallMs(0)).unwrap();
    let refused = HoldRefused { used_bytes: 600, required_bytes: 401, budget_bytes: 1_000 };
    assert_eq!(carrier.hold(BOB, digest(2), &mail(401), WallMs(0)), Err(refused));
    assert_eq!(carrier.hold(BOB, digest(2), &mail(400), WallMs(0)), Ok(vec![]));
    assert_eq!((kept(&carrier, ALICE), kept(&carrier, BOB)), (vec![1], vec![2]));
    assert_eq!(carrier.lose(ALICE), vec![digest(1)]);
    assert_eq!((carrier.used_bytes(), carrier.lose(ALICE)), (400, vec![]));
}

#[cfg(feature = "flaws")]
#[test]
fn a_carrier_that_evicts_lets_the_oldest_mail_go_without_a_word() {
    let flaws = Flaws::NONE.with(Flaw::RelayInboxEvicts);
    let mut carrier = Carrier::new(CarrierConfig { flaws, ..CONFIG });
    carrier.hold(ALICE, digest(1), &mail(600), WallMs(0)).unwrap();
    assert_eq!(carrier.hold(BOB, digest(2), &mail(600), WallMs(1)), Ok(vec![]));
    assert_eq!((kept(&carrier, ALICE), kept(&carrier, BOB)), (vec![], vec![2]));
}

#[test]
fn mail_that_is_handed_on_is_kept_no_longer_than_by_its_first_carrier() {
    let (mut first, mut next) = (Carrier::new(CONFIG), Carrier::new(CONFIG));
    first.hold(ALICE, digest(1), &mail(10), WallMs(5)).unwrap();
    let until = first.keeps_until(ALICE, &digest(1));
    assert_eq!((until, first.keeps_until(BOB, &digest(1))), (Some(WallMs(105)), None));
    next.hold_until(ALICE, digest(1), &mail(10), WallMs(105)).unwrap();
    next.hold_until(ALICE, digest(1), &mail(10), WallMs(900)).unwrap();
    assert_eq!(next.keeps_until(ALICE, &digest(1)), until, "it is kept already");
    assert_eq!(next.expire(WallMs(106)), vec![PushedOut { destination: ALICE, digest: digest(1) }]);
}
