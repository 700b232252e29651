import type { Diagnosis, ToolFailure, ToolInfo, ToolResult } from 'toolpost/gateway'

interface Run {
  tool: string
  args: unknown
  signal: AbortSignal
  tools: readonly ToolInfo[]
}

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAKklEQVR42mNQLL+PFTEQlPj//z8awimB0IFN8P///wyEjcKFcNqBy0YG6koAAEZXwAF0yN2tAAAAAElFTkSuQmCC'

/** Said, not spent. */
const TYPICAL_MS: Record<string, number> = {
  control_zwave_device: 86.4,
  get_device_sensor_data: 31,
  list_zwave_devices: 12.7,
  take_snapshot: 642,
  slow_report: 1_240,
}

/** What each made-up tool does. */
export async function runTool({ tool, args, signal, tools }: Run): Promise<ToolResult> {
  const base = () => ({ tool_name: tool, execution_time_ms: TYPICAL_MS[tool] ?? 0.4 })
  const success = (result: unknown, more: object = {}): ToolResult => ({
    success: true,
    result,
    ...base(),
    ...more,
  })
  const failure = (code: ToolFailure['code'], error: string, diagnosis: Diagnosis = {}): ToolResult => ({
    success: false,
    error,
    code,
    ...base(),
    diagnosis,
  })
  const given = (args ?? {}) as Record<string, unknown>
  switch (tool) {
    case 'echo':
      return success({ echo: args })
    case 'datetime':
      return success({ time: '04:12', timezone: given.timezone ?? 'Europe/Vienna' })
    case 'math_eval':
      if (typeof given.expression !== 'string')
        return failure('invalid_arguments', "Invalid parameters: missing 'expression'", {
          required: 'expression (string)',
          signature: 'math_eval(expression: string)',
        })
      return success({ expression: given.expression, value: 5 })
    case 'send_note':
      return success({ kept: args }, { repairs: ["'tags' was one text: made a list of one"] })
    case 'slow_report':
      await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
      return failure('cancelled', `Tool '${tool}' was cancelled`)
    case 'take_snapshot':
      return success([
        { type: 'text', text: 'The door, a moment ago.' },
        { type: 'image', data: PICTURE, mimeType: 'image/png' },
      ])
    case 'hostile':
      return success(
        '<img src=x onerror="document.title=\'owned\'"><script>alert(1)</script>\u001b[31mred\u001b[0m',
      )
    case 'get_device_sensor_data':
      return failure('unavailable', 'The zwave service is unavailable: the server exited with code 1', {
        causes: ['fetch failed', 'connect ECONNREFUSED 127.0.0.1:1883'],
        details: { server: 'zwave', stderr: 'Error: connect ECONNREFUSED 127.0.0.1:1883', exitCode: 1 },
      })
    case 'control_zwave_device':
      return success(`${given.deviceName} is ${given.action === 'off' ? 'off' : 'on'}.`)
    case 'list_zwave_devices':
      return success([
        { name: 'Kitchen light', type: 'switch', state: 'on', active: true },
        { name: 'Hall sensor', type: 'sensor', temperature: 21.5, active: true },
      ])
    default:
      return failure('unknown_tool', `Tool '${tool}' not found`, {
        suggestions: tools.slice(0, 2).map(one => one.name),
      })
  }
}
