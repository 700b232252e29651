import { JsonWriter } from '../../runtime/json-writer.ts'
import { nextTurn } from '../../runtime/turns.ts'
import { MAX_MCP_ANSWER } from '../limits.ts'

/** Whether the SDK can write a result in one go. Checked in slices, since it may be huge. */
export async function fits(result: unknown): Promise<boolean> {
  const writer = new JsonWriter(result, MAX_MCP_ANSWER)
  while (!writer.isDone && writer.isWhole) {
    writer.next()
    await nextTurn()
  }
  return writer.isWhole
}
