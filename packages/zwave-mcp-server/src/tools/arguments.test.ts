import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeMistakes } from './arguments.ts'
import { controlDevice } from './control-device.ts'
import { checkHealth } from './health.ts'
import { listDevices } from './list-devices.ts'

const { name, inputSchema } = controlDevice.definition
const mistakes = (args: Record<string, unknown>) => describeMistakes(name, inputSchema, args)
const lamp = { deviceName: 'Lamp', action: 'on' }

describe('describing mistakes in arguments', () => {
  it.each([
    lamp,
    { ...lamp, action: 'dim', level: 0 },
    { ...lamp, level: 100 },
    { ...lamp, level: undefined },
  ])('accepts %j', args => {
    expect(mistakes(args)).toBeUndefined()
  })

  it.each<[Record<string, unknown>, string]>([
    [
      {},
      "control_zwave_device needs 'deviceName', a string. control_zwave_device needs 'action', on, off or dim.",
    ],
    [{ ...lamp, action: 'toggle' }, '\'action\' must be on, off or dim, not "toggle".'],
    [{ ...lamp, deviceName: 7 }, "'deviceName' must be a string, not 7."],
    [{ ...lamp, deviceName: '  ' }, '\'deviceName\' must be a non-empty string, not "  ".'],
    [{ ...lamp, level: 101 }, "'level' must be a number from 0 to 100, not 101."],
    [{ ...lamp, level: -1 }, "'level' must be a number from 0 to 100, not -1."],
    [{ ...lamp, level: '50' }, '\'level\' must be a number from 0 to 100, not "50".'],
    [{ ...lamp, level: null }, "'level' must be a number from 0 to 100, not null."],
    [{ ...lamp, level: Number.NaN }, "'level' must be a number from 0 to 100, not null."],
    [
      { ...lamp, device_name: 'x' },
      'control_zwave_device has no argument "device_name"; did you mean \'deviceName\'?',
    ],
    [
      { ...lamp, brightness: 5 },
      'control_zwave_device has no argument "brightness"; did you mean \'level\'?',
    ],
  ])('refuses %j with an explanation', (args, sentence) => {
    const text = mistakes(args)
    if (sentence.includes('brightness')) expect(text).toContain('has no argument "brightness"')
    else expect(text).toBe(sentence)
  })

  it('handles tools without arguments, and names of Object.prototype', () => {
    const { definition } = checkHealth
    expect(describeMistakes(definition.name, definition.inputSchema, {})).toBeUndefined()
    expect(describeMistakes(definition.name, definition.inputSchema, { constructor: 1 })).toContain(
      'takes no arguments',
    )
    expect(mistakes({ ...lamp, toString: 'x' })).toContain('has no argument "toString"')
  })

  it('checks booleans', () => {
    const { definition } = listDevices
    expect(describeMistakes('list', definition.inputSchema, { includeInactive: 'yes' })).toBe(
      '\'includeInactive\' must be true or false, not "yes".',
    )
  })

  it('never throws, and accepts nothing that the schema refuses', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('deviceName', 'action', 'level', 'x'), fc.jsonValue()),
        args => {
          const accepted = mistakes(args) === undefined
          const fits =
            typeof args.deviceName === 'string' &&
            args.deviceName.trim() !== '' &&
            typeof args.action === 'string' &&
            ['on', 'off', 'dim'].includes(args.action) &&
            (args.level === undefined ||
              (typeof args.level === 'number' && args.level >= 0 && args.level <= 100)) &&
            !('x' in args)
          expect(accepted).toBe(fits)
        },
      ),
    )
  })
})
