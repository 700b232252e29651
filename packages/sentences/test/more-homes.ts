import type { HouseholdDevice } from './household.ts'

const temperature = { kind: 'sensor', unit: '°C', measures: 'air temperature' } as const

const FLAT: readonly HouseholdDevice[] = [
  { name: 'Main Light', location: 'Main Room', kind: 'dimmer', value: 60 },
  { name: 'IKEA Lamp', location: 'Main Room', kind: 'switch', value: true },
  { name: 'Sonos', location: 'Main Room', kind: 'switch', value: false },
  { name: 'Xmas Tree', location: 'Main Room', kind: 'switch', value: false },
  { name: 'Radiator', location: 'Main Room', kind: 'thermostat', value: 19 },
  { name: 'Roller Blind', location: 'Main Room', kind: 'cover', value: 100 },
  { ...temperature, name: 'Climate Sensor', location: 'Main Room', value: 22.5 },
  { name: 'Spot 1', location: 'Kitchenette', kind: 'dimmer', value: 0 },
  { name: 'Spot 2', location: 'Kitchenette', kind: 'dimmer', value: 50 },
  { name: 'Kettle', location: 'Kitchenette', kind: 'switch', value: false },
  { name: 'Shower Light', location: 'Wet Room', kind: 'switch', value: false },
  { name: 'Extractor Fan', location: 'Wet Room', kind: 'switch', value: true },
  { name: 'Reading Lamp', location: 'Alcove', kind: 'dimmer', value: 30 },
  { name: 'Front Door', kind: 'lock', value: false },
  { name: 'Balcony Door', location: 'Balcony', kind: 'sensor', value: 'open', measures: 'door' },
]

const FAMILY_HOUSE: readonly HouseholdDevice[] = [
  { name: 'Ceiling Spots', location: 'Living Room', kind: 'dimmer', value: 70 },
  { name: 'Corner Lamp', location: 'Living Room', kind: 'dimmer', value: 0 },
  { name: 'Samsung TV', location: 'Living Room', kind: 'switch', value: true },
  { name: 'Bay Window Blind', location: 'Living Room', kind: 'cover', value: 100 },
  { name: 'Side Window Blind', location: 'Living Room', kind: 'cover', value: 0 },
  { name: 'Living Room Thermostat', location: 'Living Room', kind: 'thermostat', value: 20 },
  { ...temperature, name: 'Multisensor 6', location: 'Living Room', value: 20.5 },
  { name: 'Hob Light', location: 'Kitchen', kind: 'switch', value: true },
  { name: 'Island Pendants', location: 'Kitchen', kind: 'dimmer', value: 40 },
  { name: 'Dishwasher', location: 'Kitchen', kind: 'switch', value: true },
  { name: 'Smeg Kettle', location: 'Kitchen', kind: 'switch', value: false },
  { name: 'Kitchen Window', location: 'Kitchen', kind: 'sensor', value: 'closed', measures: 'window' },
  { ...temperature, name: 'Fridge Temp', location: 'Kitchen', value: 4 },
  { name: "Anna's Lamp", location: "Anna's Room", kind: 'dimmer', value: 25 },
  { name: 'Fairy Lights', location: "Anna's Room", kind: 'switch', value: true },
  { name: "Anna's Blind", location: "Anna's Room", kind: 'cover', value: 50 },
  { name: "Ben's Lamp", location: "Ben's Room", kind: 'switch', value: false },
  { name: 'PS5', location: "Ben's Room", kind: 'switch', value: true },
  { name: "Ben's Radiator", location: "Ben's Room", kind: 'thermostat', value: 18 },
  { name: 'Desk Light', location: "Mum's Office", kind: 'dimmer', value: 90 },
  { name: 'HP Printer', location: "Mum's Office", kind: 'switch', value: true },
  { name: 'Bedside Lamp 1', location: 'Master Bedroom', kind: 'dimmer', value: 0 },
  { name: 'Bedside Lamp 2', location: 'Master Bedroom', kind: 'dimmer', value: 15 },
  { name: 'Blackout Blind', location: 'Master Bedroom', kind: 'cover', value: 0 },
  { name: 'Bedroom TRV', location: 'Master Bedroom', kind: 'thermostat', value: 17 },
  { name: 'Loft Light', location: 'The Nest', kind: 'switch', value: false },
  { name: 'Velux', location: 'The Nest', kind: 'cover', value: 0 },
  { name: 'Mirror Light', location: 'Upstairs Bathroom', kind: 'switch', value: false },
  { name: 'Towel Rail', location: 'Upstairs Bathroom', kind: 'switch', value: true },
  {
    name: 'Bathroom Humidity',
    location: 'Upstairs Bathroom',
    kind: 'sensor',
    value: 68,
    unit: '%',
    measures: 'humidity',
  },
  { name: 'Loo Light', location: 'Downstairs Loo', kind: 'switch', value: false },
  { name: 'Landing Light', location: 'Landing', kind: 'dimmer', value: 10 },
  { name: 'Landing Motion', location: 'Landing', kind: 'sensor', value: 'no motion', measures: 'motion' },
  { name: 'Garage Door', location: 'Garage', kind: 'cover', value: 0 },
  { name: 'Chest Freezer', location: 'Garage', kind: 'switch', value: true },
  { name: 'Garage Side Door', location: 'Garage', kind: 'lock', value: false },
  { name: 'Patio Lights', location: 'Garden', kind: 'switch', value: false },
  { name: 'Hot Tub', location: 'Garden', kind: 'switch', value: false },
  { name: 'Shed Door', location: 'Garden', kind: 'sensor', value: 'closed', measures: 'door' },
  { name: 'Front Door', location: 'Hall', kind: 'lock', value: true },
  { name: 'Hall Light', location: 'Hall', kind: 'switch', value: true },
]

/** Two floors, two bedrooms, and a sensor of every kind. */
export const COTTAGE: readonly HouseholdDevice[] = [
  { name: 'Snug Lamp', location: 'Snug', kind: 'dimmer', value: 0 },
  { name: 'Wall Light', location: 'Snug', kind: 'dimmer', value: 30 },
  { name: 'Snug Blind', location: 'Snug', kind: 'cover', value: 100 },
  { name: 'Worktop', location: 'Galley', kind: 'dimmer', value: 80 },
  { name: 'Bunk Light', location: 'Bedroom', kind: 'dimmer', value: 0 },
  { name: 'Bedroom Blind', location: 'Bedroom', kind: 'cover', value: 0 },
  { name: 'Bedroom Radiator', location: 'Bedroom', kind: 'thermostat', value: 18 },
  { name: 'Twin Light', location: 'Second Bedroom', kind: 'dimmer', value: 0 },
  { name: 'Ceiling Fan', location: 'Second Bedroom', kind: 'dimmer', value: 50 },
  { name: 'Front Door', location: 'Porch', kind: 'lock', value: true },
  { name: 'Galley Leak', location: 'Galley', kind: 'sensor', value: 'dry' },
  { name: 'Galley Smoke', location: 'Galley', kind: 'sensor', value: 'no smoke' },
  { name: 'Larder Door', location: 'Galley', kind: 'sensor', value: 'closed' },
  { name: 'Porch Motion', location: 'Porch', kind: 'sensor', value: 'no motion' },
  { ...temperature, name: 'Porch Thermometer', location: 'Porch', value: 7 },
]
export const COTTAGE_FLOORS = {
  'Ground Floor': ['Snug', 'Galley', 'Porch'],
  Upstairs: ['Bedroom', 'Second Bedroom'],
}

/** A small flat and a large family's house. */
export const MORE_HOMES = {
  flat: { devices: FLAT, scenes: ['Chill', 'Leaving'] },
  'family house': { devices: FAMILY_HOUSE, scenes: ['Film Night', 'Bedtime', 'Everyone Out'] },
}
