import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { IconButton } from './controls.tsx'

interface Props {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
  /** Hides the title from view; screen readers still read it. */
  bare?: boolean
}

export function Dialog({ title, open, onClose, children, bare = false }: Props) {
  return (
    <Base.Root open={open} onOpenChange={isOpen => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-[#0008]" />
        <Base.Popup className="card fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[min(40rem,94vw)] -translate-x-1/2 flex-col shadow-xl">
          {bare ? (
            <Base.Title className="sr-only">{title}</Base.Title>
          ) : (
            <div className="row justify-between border-b border-line px-4 py-2.5">
              <Base.Title className="text-base">{title}</Base.Title>
              <Base.Close render={<IconButton label="Close" />} />
            </div>
          )}
          <div className="min-h-0 overflow-y-auto">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
