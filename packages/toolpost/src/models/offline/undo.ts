import { mentionedIn, type SoFar } from './conversation-so-far.ts'
import type { Grammar, Reading } from './grammar.ts'
import { meaningOf } from './home/meanings.ts'
import { isReference } from './home/reference.ts'
import { type Meaning, saying } from './meaning.ts'

const UNDO = new Set(
  `undo,undo that,undo it,undo this,revert,revert that,reverse that,take that back,put it back,put that back,change it back,
  turn it back,switch it back,as it was,as it was before,back to how it was,put it back how it was,put it back as it was`
    .split(',')
    .map(phrase => phrase.trim()),
)
const OPPOSITE: Readonly<Record<string, string>> = { on: 'off', off: 'on' }

/** "Undo that" switches a single device back. Other previous states are not recorded. */
export function undo(
  said: string,
  { before, last, grammar }: { before: SoFar; last: () => Reading | undefined; grammar: Grammar },
): Meaning | undefined {
  if (!UNDO.has(said)) return undefined
  const reading = last()
  const { deviceName, action } = reading?.args ?? {}
  const opposite = OPPOSITE[String(action)]
  const [device, ...others] = isReference(deviceName) ? deviceName.devices : []
  const wasDone = mentionedIn(before).devices.join() === device?.call
  if (!reading || !opposite || !device || others.length > 0 || !wasDone)
    return saying('talk', 'I cannot undo that; say how you want it instead.')
  return meaningOf(grammar, { ...reading, args: { ...reading.args, action: opposite } })
}
