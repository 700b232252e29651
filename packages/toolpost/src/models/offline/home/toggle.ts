import type { ToolResult } from '../../../call/tool-result.ts'
import { keyOf, type Meaning, type PlannedCall } from '../meaning.ts'
import { phraseResults } from '../phrase-answer.ts'
import { doubtAbout } from './doubt.ts'
import type { MeaningContext } from './meanings.ts'
import { isReference } from './reference.ts'
import { isInState, oppositeOf, reportIn } from './states.ts'

/** "Toggle the lamp": reads its state, then switches it over. */
export function toggleMeaning({ grammar, reading, matched }: MeaningContext): Meaning | undefined {
  const { deviceName: reference } = reading.args
  const reader = grammar.tool('get_device_sensor_data')
  if (!isReference(reference) || !reader) return undefined
  const doubt = doubtAbout(reference, matched)
  if (doubt) return doubt
  const reads = reference.devices.map(({ call }) => ({ tool: reader, args: { deviceName: call } }))
  return {
    ...matched,
    kind: 'act',
    key: `toggle ${keyOf(reads)}`,
    calls: reads,
    run: async makeCalls => {
      const results = await makeCalls(reads)
      const actions = results.map(actionAfter)
      const calls = actions.flatMap((action, at): PlannedCall[] =>
        action ? [{ tool: reading.tool, args: { ...reads[at]?.args, action } }] : [],
      )
      const unread = results.filter((_, at) => actions[at] === undefined)
      return phraseResults([...unread, ...(await makeCalls(calls))])
    },
  }
}

/** The opposite of the state that a device reports. */
function actionAfter(result: ToolResult): string | undefined {
  const states = (reportIn(result)?.readings ?? []).map(({ text }) => isInState(text, 'on'))
  const isOn = states.find(state => state !== undefined)
  return isOn === undefined ? undefined : oppositeOf(isOn ? 'on' : 'off')
}
