import { Toast } from '@base-ui/react/toast'
import type { ReactNode } from 'react'
import { isAbort, messageOf } from '../api/http.ts'
import { IconButton } from './controls.tsx'

const manager = Toast.createToastManager()

/** Runs an action; if it fails, a toast says why, unless it was aborted. Resolves to whether it succeeded. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    if (!isAbort(error)) manager.add({ title: messageOf(error), priority: 'high', timeout: 10_000 })
    return false
  }
}

/** Stays until it is dismissed. */
export function announce(text: string): void {
  manager.add({ title: text, timeout: 0 })
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-20 z-50 flex w-80 max-w-[92vw] flex-col gap-2 md:bottom-4">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts } = Toast.useToastManager()
  return toasts.map(one => (
    <Toast.Root key={one.id} toast={one} className="card row px-3 py-2 shadow-lg">
      <Toast.Title className="min-w-0 flex-1 break-words" render={<p />} />
      <Toast.Close render={<IconButton label="Dismiss" />} />
    </Toast.Root>
  ))
}
