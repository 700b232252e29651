import { isAt, phrases, withoutMind } from './polite-verbs.ts'
import { askedPlainly, inFull, withOff } from './typing.ts'
import { type Word, wordsOf } from './words.ts'

/** Fillers around a request, longest first. */
const BEFORE = phrases(`
  i want that you
  you please
  please to
  first
  first of all
  firstly
  i would like you to
  i would love you to
  i would love it if you could
  i would love it if you would
  i would appreciate it if you could
  i would appreciate it if you would
  i would be grateful if you could
  it would be great if you could
  it would be nice if you could
  do you think you could
  any chance you could
  is there any chance you could
  i wonder if you could
  could i ask you to
  can i ask you to
  may i ask you to
  might you
  would you be so kind as to
  would you be so good as to
  be so good as to
  i was just wondering
  i was wondering
  just wondering
  quick question
  hope you are well
  i hope you are well
  would you be so kind and
  would you be kind enough to
  be so kind as to
  be so kind and
  be a dear and
  be a love and
  be a darling and
  be a star and
  be a sweetheart and
  be a good boy and
  be a good girl and
  would you kindly
  could you kindly
  could you possibly
  can you possibly
  could you maybe
  can you maybe
  could you quickly
  can you quickly
  could you just
  can you just
  go and
  let's have
  let us have
  let's
  let us
  alrighty
  hiya
  hi there
  hello there
  good afternoon
  i want you to
  i need you to
  i was wondering if you could
  would it be possible to
  is it possible to
  do me a favor and
  do me a favour and
  could you please
  can you please
  would you please
  will you please
  could you
  can you
  would you
  will you
  go ahead and
  please
  kindly
  just
  quickly
  alright
  all right
  excuse me
  okay
  hey there
  good morning
  good evening
  hello
  hey
  hi
  ok
  oh
  so
  um
  uh
  well
`)
const NOW = phrases(`
  right now
  now
  right away
  straight away
  immediately
  at once
  at the moment
  currently
  again
`)
const AFTER = phrases(`
  thank you very much
  thank you so much
  thanks very much
  thanks so much
  many thanks
  thank you kindly
  ta
  thx
  pretty please
  if you please
  if you wouldn't mind
  if that is okay
  if that is ok
  if that is possible
  would you please
  could you please
  would you kindly
  won't you
  will ya
  then
  lol
  haha
  bro
  bruh
  yo
  rn
  k
  quickly
  quick
  asap
  thank you
  thanks a lot
  thanks
  cheers
  please
  for me
  for us
  will you
  would you
  could you
  can you
  if you can
  if you could
  if you would
  if you don't mind
  if possible
  real quick
  as well
  too
`)
/** The words of a request, without the politeness around it. */
export function requestWords(text: string): Word[] {
  return askedPlainly(withOff(withoutAround(inFull(wordsOf(text)))))
}

/** Without the politeness at both ends. */
export function withoutAround(said: readonly Word[]): Word[] {
  let words = [...said]
  for (let before = -1; before !== words.length; ) {
    before = words.length
    words = withoutPoliteness(withoutMind(words))
  }
  return words
}

/** Without a "now" or "again" at the end: a request is meant for now anyway. */
export function withoutNow(words: readonly Word[]): readonly Word[] {
  const now = NOW.find(phrase => isAt(words, words.length - phrase.length, phrase))
  return now ? words.slice(0, words.length - now.length) : words
}

function withoutPoliteness(words: Word[]): Word[] {
  const before = BEFORE.find(phrase => isAt(words, 0, phrase))?.length ?? 0
  const rest = words.slice(before)
  const after = AFTER.find(phrase => isAt(rest, rest.length - phrase.length, phrase))?.length ?? 0
  // If nothing else is left, the politeness is the request: "thank you".
  return rest.length - after > 0 ? rest.slice(0, rest.length - after) : words
}
