import type { ServerStatus } from 'toolpost/gateway'

const unset = {
  error: undefined,
  pid: undefined,
  nextAttemptAt: undefined,
  readyAfterMs: undefined,
  protocolVersion: undefined,
}

export function exampleServers(): ServerStatus[] {
  return [
    {
      ...unset,
      name: 'zwave',
      state: 'ready',
      attempts: 1,
      tools: ['list_zwave_devices', 'control_zwave_device', 'get_device_sensor_data'],
      stderr: 'Connected to mqtt://127.0.0.1:1883\n7 devices found\n',
      exitCode: null,
      pid: 48_211,
      junkLines: 0,
      readyAfterMs: 412,
      protocolVersion: '2026-07-28',
    },
    {
      ...unset,
      name: 'camera',
      state: 'ready',
      attempts: 2,
      tools: ['take_snapshot', 'hostile'],
      stderr: '',
      exitCode: null,
      junkLines: 3,
      readyAfterMs: 2_630,
      protocolVersion: '2025-06-18',
    },
    {
      ...unset,
      name: 'notes',
      state: 'lost',
      attempts: 4,
      tools: [],
      error: 'the server exited with code 1',
      stderr:
        "Error: Cannot find module '/srv/notes/index.js'\n    at Module._resolveFilename (node:internal/modules)\n\u001b[31mcode: MODULE_NOT_FOUND\u001b[0m\n",
      exitCode: 1,
      junkLines: 0,
      nextAttemptAt: new Date(Date.now() + 24_000).toISOString(),
    },
  ]
}
