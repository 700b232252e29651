import { Store } from './store.ts'

/** Whether the command palette is open. */
class Palette extends Store<{ isOpen: boolean }> {
  constructor() {
    super({ isOpen: false })
  }

  open(): void {
    this.update({ isOpen: true })
  }

  close(): void {
    this.update({ isOpen: false })
  }
}

export const palette = new Palette()
