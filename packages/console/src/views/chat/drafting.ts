import { Store } from '../../state/store.ts'

/** A sentence with a blank to fill in before asking. */
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
