import { Store } from './store.ts'

const KEY = 'toolpost.model'

/** The model that this browser's questions go to; `undefined` leaves it to the gateway. */
class ChosenModel extends Store<string | undefined> {
  constructor() {
    super(read())
  }

  choose(name: string | undefined): void {
    this.set(name)
    try {
      if (name === undefined) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, name)
    } catch {
      // No storage: it lasts as long as the page.
    }
  }
}

function read(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined
  } catch {
    return undefined
  }
}

export const chosenModel = new ChosenModel()
