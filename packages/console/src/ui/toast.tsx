import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { messageOf } from '../api/http.ts'

const manager = Toast.createToastManager()

/** Runs an action; if it fails, a toast says why. Resolves to whether it succeeded. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    manager.add({ title: messageOf(error), priority: 'high', timeout: 10_000 })
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
      <Toast.Close aria-label="Dismiss" className="text-muted hover:text-text">
        <X size={14} aria-hidden="true" />
      </Toast.Close>
    </Toast.Root>
  ))
}
