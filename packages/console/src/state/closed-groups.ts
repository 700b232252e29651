import { KeptStore, textsIn } from './kept-store.ts'

/** Servers whose tools are collapsed in the list. */
class ClosedGroups extends KeptStore<readonly string[]> {
  constructor() {
    super({ key: 'toolpost.closed-groups', read: kept => textsIn(kept, 1_000) })
  }

  put(source: string, isClosed: boolean): void {
    if (this.get().includes(source) === isClosed) return
    const others = this.get().filter(name => name !== source)
    this.set(isClosed ? [...others, source] : others)
  }
}

export const closedGroups = new ClosedGroups()
