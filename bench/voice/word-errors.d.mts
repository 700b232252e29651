export function wordsIn(text: string): string[]
export function wordErrors(said: string, heard: string): number
