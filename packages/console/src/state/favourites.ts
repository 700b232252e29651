import { KeptStore, textsIn } from './kept-store.ts'
import { useStore } from './store.ts'

const MAX_FAVOURITES = 100

/** Names of favourite tools, in the order they were added. */
class Favourites extends KeptStore<readonly string[]> {
  constructor() {
    super({ key: 'toolpost.favourites', read: kept => textsIn(kept, MAX_FAVOURITES) })
  }

  toggle(tool: string): void {
    const others = this.get().filter(name => name !== tool)
    this.set(others.length < this.get().length ? others : [...others, tool].slice(-MAX_FAVOURITES))
  }
}

export const favourites = new Favourites()

export function useIsFavourite(tool: string): boolean {
  return useStore(favourites, names => names.includes(tool))
}
