import { Store } from '../../state/store.ts'

/** A sentence with a blank that is to be filled in before it is asked. */
class Drafting extends Store<string | undefined> {
  constructor() {
    super(undefined)
  }

  offer(sentence: string): void {
    this.set(sentence)
  }

  take(): void {
    this.set(undefined)
  }
}

export const drafting = new Drafting()
