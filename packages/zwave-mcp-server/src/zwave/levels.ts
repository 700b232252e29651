/** Z-Wave levels are 0–99, people's 0–100. Every level but 99 survives the round trip. */
export const MAX_ZWAVE_LEVEL = 99

/** Tells a dimmer to restore the level it had before it was switched off. */
export const RESTORE_LEVEL = 255

/** The mode of a locked lock. 254 means unknown, anything below is some form of unlocked. */
export const LOCKED = 255
export const UNLOCKED = 0

export function toZwaveLevel(percent: number): number {
  return Math.min(Math.round(percent), MAX_ZWAVE_LEVEL)
}

export function toPercent(level: number): number {
  return level >= MAX_ZWAVE_LEVEL ? 100 : level
}
