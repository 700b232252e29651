import { useState } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'

/** Creates the content on click and saves it. */
export function DownloadButton({ name, type, make }: { name: string; type: string; make: () => BlobPart }) {
  const [hasFailed, setFailed] = useState(false)
  const save = () => {
    try {
      saveBlob(new Blob([make()], { type }), name)
    } catch {
      // Nested too deeply for JSON.
      setFailed(true)
    }
  }
  return (
    <Button look="quiet" icon="download" title="Download" onClick={save}>
      <span>{hasFailed ? 'Could not save' : 'Download'}</span>
    </Button>
  )
}

export function DownloadLink({ address, name }: { address: string; name: string }) {
  return (
    <a className="button button-quiet" href={address} download={name}>
      <Icon name="download" /> Download
    </a>
  )
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
