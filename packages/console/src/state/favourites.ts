import { KeptStore } from './kept-store.ts'
import { useStore } from './store.ts'

const MAX_FAVOURITES = 100

/** Names of favourite tools, in the order they were added. */
class Favourites extends KeptStore<readonly string[]> {
  constructor() {
    super({ key: 'toolpost.favourites', read: textsIn })
  }

  toggle(tool: string): void {
    const others = this.get().filter(name => name !== tool)
    this.set(others.length < this.get().length ? others : [...others, tool].slice(-MAX_FAVOURITES))
  }
}

function textsIn(kept: unknown): readonly string[] {
  return Array.isArray(kept) ? kept.filter(name => typeof name === 'string').slice(0, MAX_FAVOURITES) : []
}

export const favourites = new Favourites()

export function useIsFavourite(tool: string): boolean {
  return useStore(favourites, names => names.includes(tool))
}
