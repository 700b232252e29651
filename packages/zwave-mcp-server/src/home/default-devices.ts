import type { DeviceDescription } from './virtual-device.ts'

/** The home that there is when nobody describes another: one of each kind, a dead one and one that never answers. */
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
]
