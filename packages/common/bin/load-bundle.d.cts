import type { Script } from 'node:vm'

type Load = (name: string) => Promise<unknown>

export function compiledOf(bundle: string): string
export function scriptOf(bundle: string, cachedData?: Buffer): Script
export function loadBundle(bundle: string, load: Load): void
export function keepCompiled(bundle: string, load: Load): void
