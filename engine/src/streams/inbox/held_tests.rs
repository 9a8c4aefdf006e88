use super::*;
use crate::flaws::Flaws;
use crate::streams::fixtures::{CRYPTO, NETWORK, NOW, receiver, sign, signer, signer_until, transaction};
use crate::streams::key::Class;
use crate::streams::transaction::DEFAULT_LIFETIME_MS;

const LAST_LIVE: WallMs = WallMs(NOW.0 + DEFAULT_LIFETIME_MS);

fn held_by(holder: &Signer, held: WallMs) -> HeldMail {
    let payload = Payload::sign(transaction(&signer(1, 2), 5, 0), &signer(1, 2), NETWORK, CRYPTO);
    HeldMail::sign(payload, held, holder, NETWORK, CRYPTO)
}

fn witness(mail: HeldMail, now: WallMs) -> Result<Verified, WitnessError> {
    let mut verifier = Verifier::new(NETWORK, CRYPTO, Flaws::NONE);
    mail.witness(receiver().account(), now, &mut verifier)
}

#[test]
fn mail_reads_back_as_it_was_signed_and_nothing_else_reads_as_mail() {
    let mail = held_by(&signer(7, 8), NOW);
    let read = HeldMail::decode(mail.encoded().clone()).unwrap();
    assert_eq!((read.held, read.signature, read.delegation), (mail.held, mail.signature, mail.delegation));
    assert_eq!(read.payload.encoded(), mail.payload.encoded());
    assert!(witness(read, NOW).is_ok());
    for end in [0, 5, HELD_MAIL_MARKER.len(), mail.encoded().len() - 1] {
        assert!(HeldMail::decode(mail.encoded().slice(..end)).is_err(), "{end} bytes");
    }
    assert_eq!(HeldMail::decode(mail.payload.encoded().clone()).unwrap_err(), DecodeError::NoMarker);
}

#[test]
fn mail_is_judged_as_of_the_instant_at_which_it_began_to_be_held() {
    let day = 86_400_000;
    let late = WallMs(LAST_LIVE.0 + 7 * day);
    assert!(witness(held_by(&signer(7, 8), LAST_LIVE), late).is_ok(), "it was live when it was held");
    let expired = witness(held_by(&signer(7, 8), LAST_LIVE.plus_ms(1)), late).unwrap_err();
    assert_eq!((expired.id(), expired.is_final()), ("expired", true));
    let brief = signer_until(7, 8, LAST_LIVE, NETWORK, CRYPTO);
    assert!(witness(held_by(&brief, LAST_LIVE), late).is_ok(), "the holder's delegation counted then");
    let payload = Payload::sign(transaction(&signer(1, 2), 5, 0), &brief, NETWORK, CRYPTO);
    let mail = HeldMail::sign(payload, LAST_LIVE, &signer(7, 8), NETWORK, CRYPTO);
    assert!(witness(mail, late).is_ok(), "and so did the last hop's");
    let over = signer_until(7, 8, WallMs(LAST_LIVE.0 - 1), NETWORK, CRYPTO);
    assert_eq!(witness(held_by(&over, LAST_LIVE), late).unwrap_err().id(), "holder-delegation");
}

#[test]
fn mail_that_is_held_ahead_of_the_clock_waits_and_is_not_given_up() {
    let mail = held_by(&signer(7, 8), NOW);
    let now = WallMs(NOW.0 - CLOCK_TOLERANCE_MS);
    assert!(witness(mail.clone(), now).is_ok());
    let ahead = witness(mail, WallMs(now.0 - 1)).unwrap_err();
    assert_eq!((ahead.id(), ahead.is_final()), ("held-ahead", false));
}

#[test]
fn nobody_can_change_the_instant_the_payload_or_the_holder() {
    let mail = held_by(&signer(7, 8), NOW);
    let other = held_by(&signer(9, 10), NOW);
    let earlier = HeldMail { held: WallMs(NOW.0 - 1), ..mail.clone() };
    let foreign = HeldMail { delegation: other.delegation, ..mail.clone() };
    let payload = Payload::sign(transaction(&signer(1, 2), 6, 0), &signer(1, 2), NETWORK, CRYPTO);
    for changed in [earlier, foreign, HeldMail { payload, ..mail }] {
        assert_eq!(witness(changed, NOW).unwrap_err(), WitnessError::BadSignature);
    }
}

#[test]
fn only_messages_of_applications_for_this_node_are_mail() {
    let hold = |transaction| {
        let payload = Payload::sign(transaction, &signer(1, 2), NETWORK, CRYPTO);
        witness(HeldMail::sign(payload, NOW, &signer(7, 8), NETWORK, CRYPTO), NOW).unwrap_err().id()
    };
    let lifetime = (NOW, DEFAULT_LIFETIME_MS);
    assert_eq!(
        hold(sign(&signer(1, 2), Did([3; 20]), Class::Application, 1, 0, lifetime)),
        "not-destination"
    );
    assert_eq!(hold(sign(&signer(1, 2), receiver().account(), Class::Storage, 1, 0, lifetime)), "not-mail");
}
