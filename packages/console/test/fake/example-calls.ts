import type { CallRecord, ToolResult } from 'toolpost/gateway'

interface Habit {
  tool: string
  source: string
  origin: string
  args: unknown
  typicalMs: number
  result: unknown
}

const HABITS: Habit[] = [
  {
    tool: 'control_zwave_device',
    source: 'zwave',
    origin: 'chat',
    args: { deviceName: 'Kitchen light', action: 'on' },
    typicalMs: 84,
    result: 'Kitchen light is on.',
  },
  {
    tool: 'get_device_sensor_data',
    source: 'zwave',
    origin: 'mcp',
    args: { deviceName: 'Hall sensor' },
    typicalMs: 22,
    result: { temperature: 21.5, humidity: 44 },
  },
  {
    tool: 'datetime',
    source: 'local',
    origin: 'chat',
    args: { timezone: 'Tokyo' },
    typicalMs: 1.4,
    result: '04:12',
  },
  {
    tool: 'math_eval',
    source: 'local',
    origin: 'http',
    args: { expression: 'sqrt(3^2 + 4^2)' },
    typicalMs: 3.2,
    result: 5,
  },
  { tool: 'take_snapshot', source: 'camera', origin: 'mcp', args: {}, typicalMs: 640, result: 'A picture' },
]

/** A few minutes of a busy home, the same every time but for the hour. */
export function exampleCalls(count = 140, now = Date.now()): CallRecord[] {
  let seed = 7
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  return Array.from({ length: count }, (_, at) => {
    const habit = HABITS[Math.floor(random() ** 1.6 * HABITS.length)] as Habit
    const late = random() > 0.93 ? 9 : 1
    const durationMs = Number((habit.typicalMs * (0.6 + random() * 0.9) * late).toFixed(2))
    const { tool, source, origin, args } = habit
    const startedAt = now - (count - at) * 4_100 - Math.floor(random() * 3_000)
    const result = random() > 0.93 ? failureOf(habit, durationMs) : successOf(habit, durationMs)
    return {
      serial: String(at + 1).padStart(3, '0'),
      tool,
      source,
      origin,
      args,
      startedAt,
      durationMs,
      slow: durationMs > 1_000,
      result,
    }
  })
}

function successOf({ tool, result }: Habit, execution_time_ms: number): ToolResult {
  return { success: true, result, tool_name: tool, execution_time_ms }
}

function failureOf({ tool, source }: Habit, execution_time_ms: number): ToolResult {
  const base = { success: false, tool_name: tool, execution_time_ms } as const
  if (source === 'local')
    return { ...base, code: 'invalid_arguments', error: "Invalid parameters: missing 'expression'" }
  return {
    ...base,
    code: 'unavailable',
    error: `The ${source} service is unavailable: the server exited with code 1`,
    diagnosis: {
      details: { server: source, stderr: 'Error: connect ECONNREFUSED 127.0.0.1:1883', exitCode: 1 },
    },
  }
}
