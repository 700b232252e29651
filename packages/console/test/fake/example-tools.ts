import type { ToolInfo } from 'toolpost/gateway'

const device = { type: 'string', description: 'The name of the device, as list_zwave_devices shows it' }

/** Tools of every kind that the page treats in a way of its own. */
export function exampleTools(): ToolInfo[] {
  return [
    {
      name: 'datetime',
      description: 'The date and time now, here or in another place.',
      source: 'local',
      signature: 'datetime(timezone?: string)',
      schema: {
        type: 'object',
        properties: {
          timezone: { type: 'string', description: 'A city or an IANA zone, e.g. Europe/Vienna' },
        },
      },
      readOnly: true,
    },
    {
      name: 'echo',
      description: 'Gives back the arguments that it got.',
      source: 'local',
      signature: 'echo(…)',
      schema: { type: 'object' },
      readOnly: true,
    },
    {
      name: 'math_eval',
      description: 'Evaluates an expression: arithmetic, units, matrices.',
      source: 'local',
      signature: 'math_eval(expression: string)',
      schema: {
        type: 'object',
        properties: { expression: { type: 'string', description: 'For example: sqrt(3^2 + 4^2)' } },
        required: ['expression'],
      },
      readOnly: true,
      timeoutMs: 5_000,
    },
    {
      name: 'send_note',
      description: 'Keeps a note, with tags, for somebody.',
      source: 'local',
      signature:
        'send_note(text: string, tags?: string[], urgent?: boolean, to?: { name: string, copy?: boolean })',
      schema: {
        type: 'object',
        properties: {
          text: { type: 'string', minLength: 1 },
          tags: { type: 'array', items: { type: 'string' }, description: 'Words to find it by' },
          urgent: { type: 'boolean', default: false, description: 'Shows it at once' },
          to: {
            type: 'object',
            properties: { name: { type: 'string' }, copy: { type: 'boolean' } },
            required: ['name'],
          },
        },
        required: ['text'],
      },
      destructive: true,
    },
    {
      name: 'slow_report',
      description: 'Takes its time.',
      source: 'local',
      signature: 'slow_report()',
      schema: { type: 'object', properties: {}, additionalProperties: false },
    },
    {
      name: 'list_zwave_devices',
      title: 'List Z-Wave devices',
      description: 'The devices of the home with their state.',
      source: 'zwave',
      signature: 'list_zwave_devices(filter?: string, includeInactive?: boolean)',
      schema: {
        type: 'object',
        properties: { filter: { type: 'string' }, includeInactive: { type: 'boolean' } },
        additionalProperties: false,
      },
      readOnly: true,
    },
    {
      name: 'control_zwave_device',
      title: 'Control a Z-Wave device',
      description: 'Switches or dims a device and waits until it has reported its new state.',
      source: 'zwave',
      signature: 'control_zwave_device(deviceName: string, action: "on" | "off" | "dim", level?: integer)',
      schema: {
        type: 'object',
        properties: {
          deviceName: device,
          action: { type: 'string', enum: ['on', 'off', 'dim'], default: 'on' },
          level: { type: 'integer', minimum: 0, maximum: 99, description: 'Brightness, for dim only' },
        },
        required: ['deviceName', 'action'],
        additionalProperties: false,
      },
      idempotent: true,
      timeoutMs: 10_000,
    },
    {
      name: 'get_device_sensor_data',
      title: 'Read sensors',
      description: 'What the sensors of a device last reported.',
      source: 'zwave',
      signature: 'get_device_sensor_data(deviceName: string)',
      schema: { type: 'object', properties: { deviceName: device }, required: ['deviceName'] },
      readOnly: true,
    },
    {
      name: 'take_snapshot',
      description: 'A picture of the camera at the door.',
      source: 'camera',
      signature: 'take_snapshot()',
      schema: { type: 'object', properties: {}, additionalProperties: false },
      readOnly: true,
    },
    {
      name: 'hostile',
      description: 'Answers with <b>markup</b>,\u001b[31m escapes\u001b[0m and more.',
      source: 'camera',
      signature: 'hostile()',
      schema: { type: 'object', properties: {}, additionalProperties: false },
    },
  ]
}
