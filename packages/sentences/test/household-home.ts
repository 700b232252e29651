import type { HouseholdDevice } from './household.ts'

/** An ordinary home. */
export const HOME: readonly HouseholdDevice[] = [
  { name: 'Switch One', kind: 'switch', value: false },
  { name: 'Demo Switch', kind: 'switch', value: true },
  { name: 'Living Room Light', kind: 'dimmer', value: 40 },
  { name: 'Floor Lamp', location: 'Living Room', kind: 'dimmer', value: 0 },
  { name: 'TV', location: 'Living Room', kind: 'switch', value: true },
  { name: 'Ceiling Light', location: 'Kitchen', kind: 'switch', value: true },
  { name: 'Coffee Machine', location: 'Kitchen', kind: 'switch', value: false },
  { name: 'Kitchen Blinds', kind: 'cover', value: 100 },
  { name: 'Living Room Blinds', kind: 'cover', value: 0 },
  { name: 'Ceiling Light', location: 'Bedroom', kind: 'dimmer', value: 0 },
  { name: 'Bedroom Fan', kind: 'switch', value: false },
  { name: 'Bedroom Curtains', kind: 'cover', value: 50 },
  { name: 'Desk Lamp', location: 'Office', kind: 'dimmer', value: 80 },
  { name: 'Bathroom Heater', kind: 'switch', value: false },
  { name: 'Porch Light', location: 'Outside', kind: 'switch', value: false },
  { name: 'Garage Heater', location: 'Garage', kind: 'switch', value: false, isDead: true },
  { name: 'Hallway Thermostat', kind: 'thermostat', value: 20 },
  { name: 'Front Door Lock', kind: 'lock', value: false },
  { name: 'Back Door Lock', kind: 'lock', value: true },
  { name: 'Front Door Sensor', kind: 'sensor', value: 'closed', measures: 'door' },
  { name: 'Kitchen Window', kind: 'sensor', value: 'open', measures: 'window' },
  {
    name: 'Temp Sensor 1',
    location: 'Living Room',
    kind: 'sensor',
    value: 21.5,
    unit: '°C',
    measures: 'air temperature',
  },
  { name: 'Bedroom Sensor', kind: 'sensor', value: 18, unit: '°C', measures: 'air temperature' },
  {
    name: 'Humidity Sensor',
    location: 'Bathroom',
    kind: 'sensor',
    value: 55,
    unit: '%',
    measures: 'humidity',
  },
]

export const SCENES = ['Movie Time', 'Good Night']
