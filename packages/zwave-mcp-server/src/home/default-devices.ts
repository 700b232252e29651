import type { SceneDescription } from './virtual-api.ts'
import type { DeviceDescription } from './virtual-device.ts'

/** The default home: one device of each kind, a dead one and one that never answers. */
export const DEFAULT_DEVICES: readonly DeviceDescription[] = [
  { nodeId: 2, name: 'Switch One', values: [{ type: 'switch' }] },
  { nodeId: 3, name: 'Demo Switch', values: [{ type: 'switch' }] },
  { nodeId: 4, name: 'Living Room Light', values: [{ type: 'dimmer' }] },
  {
    nodeId: 5,
    name: 'Temp Sensor 1',
    values: [
      {
        type: 'sensor',
        property: 'Air temperature',
        unit: '°C',
        value: 21.5,
        drift: { step: 0.1, min: 19, max: 24, everyMs: 5_000 },
      },
    ],
  },
  {
    nodeId: 6,
    name: 'Humidity Sensor',
    values: [
      {
        type: 'sensor',
        property: 'Humidity',
        unit: '%',
        value: 45,
        drift: { step: 1, min: 35, max: 60, everyMs: 7_000 },
      },
    ],
  },
  { nodeId: 7, name: 'Front Door Sensor', values: [{ type: 'binary', property: 'Door/Window' }] },
  { nodeId: 8, name: 'Garage Heater', location: 'Garage', status: 'Dead', values: [{ type: 'switch' }] },
  { nodeId: 9, name: 'Porch Light', location: 'Outside', answers: false, values: [{ type: 'switch' }] },
  { nodeId: 10, name: 'Hallway Thermostat', values: [{ type: 'thermostat', value: 20 }] },
  { nodeId: 11, name: 'Living Room Blinds', values: [{ type: 'cover', value: 99 }] },
  { nodeId: 12, name: 'Back Door Lock', values: [{ type: 'lock', value: true }] },
]

/** The scenes of the default home: device name → the value it is set to. */
export const DEFAULT_SCENES: readonly SceneDescription[] = [
  { name: 'Movie Time', values: { 'Living Room Light': 20, 'Living Room Blinds': 0 } },
]
