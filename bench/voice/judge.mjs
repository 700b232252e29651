/** A device that has not reported by then counts as not switched. */
const SWITCHED_MS = 500
const LONGEST_TURN_MS = 15_000

/**
 * Sends one recording through the gateway. The outcome is `right`; `asked` (it asked, and a yes did what was said);
 * `nothing` (not understood, or it asked about something else, which is answered with no); or `wrong` (anything else was
 * called). Speech that must do nothing is `right`, or `wrong` if anything was done. A failed call counts as nothing.
 */
export async function hear(recording, session, send) {
  const { expected } = recording
  const { home } = session
  await home.prepare(expected.given)
  const wanted = { ...expected.given, ...expected.state }
  const switched = expected.state && home.reaches(wanted, LONGEST_TURN_MS)
  const turn = session.begin(expected.nothing ? 'no' : 'yes')
  const endOfSound = await send(turn)
  const { calls, texts, asked, heard, transcribeMs } = await turn.end()
  const isDone = await isAsExpected(expected, { calls, texts, home, wanted })
  return {
    ...recording,
    outcome: outcomeOf(expected, { isDone, calls, asked, home }),
    ms: isDone && switched && asked === 0 ? (await switched) - endOfSound : undefined,
    transcribeMs,
    heard,
    answer: texts.join(' / '),
    calls: calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`),
  }
}

async function isAsExpected(expected, { calls, texts, home, wanted }) {
  if (expected.nothing) return !hasActed(expected, calls, home)
  if (calls.length === 0) return false
  if (expected.state) return (await home.reaches(wanted, SWITCHED_MS)) !== undefined
  const { name, args } = calls.at(-1)
  return (
    expected.calls.includes(name) &&
    Object.entries(expected.args ?? {}).every(([key, value]) => args[key] === value) &&
    new RegExp(expected.answer ?? '', 'i').test(texts.join(' ')) &&
    home.differences(expected.given).length === 0
  )
}

function outcomeOf(expected, { isDone, calls, asked, home }) {
  if (expected.nothing) return isDone ? 'right' : 'wrong'
  if (isDone) return asked > (expected.asks ? 1 : 0) ? 'asked' : 'right'
  if (asked > 0) return 'nothing'
  return hasActed(expected, calls, home) ? 'wrong' : 'nothing'
}

function hasActed({ given }, calls, home) {
  return calls.some(({ success }) => success) || home.differences(given).length > 0
}
