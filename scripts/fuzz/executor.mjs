import fc from 'fast-check'
import { ToolExecutor, ToolManager } from 'toolpost'
import { argumentValues, schemas } from './schemas.mjs'

/** What a tool may do instead of answering. */
const BEHAVIOURS = {
  value: value => value,
  rejects: value => Promise.reject(value),
  throws: value => {
    throw value
  },
  never: () => new Promise(() => {}),
  thenable: value => thenable(resolve => resolve(value)),
  twice: value =>
    thenable((resolve, reject) => {
      resolve(value)
      reject(value)
      throw new Error('and then')
    }),
  badThen: () => Object.defineProperty({}, 'then', { get: () => fail() }),
  proxy: () => new Proxy({}, { get: () => fail(), ownKeys: () => fail(), has: () => fail() }),
  throwsProxy: () => {
    throw new Proxy({}, { get: () => fail(), getPrototypeOf: () => fail() })
  },
  toJson: () => ({ toJSON: () => fail() }),
  cycle: value => {
    const cycle = { value }
    cycle.self = cycle
    return cycle
  },
  listens: (_, { signal }) => {
    signal.addEventListener('abort', () => fail())
    return new Promise(() => {})
  },
  onAbort: (_, options) => {
    options.onAbort?.(() => fail())
    return new Promise(() => {})
  },
}

function thenable(then) {
  return Object.defineProperty({}, 'then', { value: then })
}

function fail() {
  throw { toString: () => fail(), message: null }
}

const methods = ['debug', 'info', 'warn', 'error', 'child'].map(name => [name, () => fail()])
const BAD_LOGGER = { level: 'debug', isLevelEnabled: () => true, ...Object.fromEntries(methods) }

const inputs = fc.record({
  schema: schemas,
  args: argumentValues,
  value: fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true }),
  behaviour: fc.constantFrom(...Object.keys(BEHAVIOURS)),
  isMcp: fc.boolean(),
  repair: fc.boolean(),
  hasBadLogger: fc.boolean(),
  abortAfterMs: fc.option(fc.nat({ max: 5 }), { nil: undefined }),
  name: fc.constantFrom('tool', 'toool', 'other', '__proto__'),
})

export const executorTarget = {
  name: 'executor',
  inputs,
  async check({ schema, args, value, behaviour, isMcp, repair, hasBadLogger, abortAfterMs, name }) {
    const tools = new ToolManager()
    const tool = { name: 'tool', description: 'd', schema, invoke: (_, o) => BEHAVIOURS[behaviour](value, o) }
    try {
      if (isMcp) tools.addMcpTools([tool], { server: 's' })
      else tools.addCustomTool(tool)
    } catch (error) {
      if (error.name !== 'ToolDefinitionError') throw error
      return
    }
    const executor = new ToolExecutor(tools, { timeoutMs: 20, ...(hasBadLogger && { logger: BAD_LOGGER }) })
    executor.observe(() => fail())
    const controller = new AbortController()
    if (abortAfterMs !== undefined) setTimeout(() => controller.abort(), abortAfterMs)
    const result = await executor.run({ id: 'x', name, args }, { repair, signal: controller.signal })
    if (typeof result?.success !== 'boolean') throw new Error('no result')
    if (typeof executor.text(result) !== 'string') throw new Error('no text')
    if (/^invalid/.test(result.code) && /URI malformed|Maximum call stack/.test(result.error))
      throw new Error(`unhelpful error: ${result.error}`)
    if (executor.metrics.snapshot().inFlight !== 0) throw new Error('still in flight')
  },
}
