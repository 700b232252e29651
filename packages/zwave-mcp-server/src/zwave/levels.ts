/** Z-Wave counts brightness 0–99, people 0–100. Every level but 99 comes back as it was given. */
export const MAX_ZWAVE_LEVEL = 99

/** Tells a dimmer to go back to the level it had before it was switched off. */
export const RESTORE_LEVEL = 255

/** The mode of a lock that is locked. 254 is unknown, anything below is more or less unlocked. */
export const LOCKED = 255
export const UNLOCKED = 0

export function toZwaveLevel(percent: number): number {
  return Math.min(Math.round(percent), MAX_ZWAVE_LEVEL)
}

export function toPercent(level: number): number {
  return level >= MAX_ZWAVE_LEVEL ? 100 : level
}
