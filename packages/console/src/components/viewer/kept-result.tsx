import { useEffect, useState } from 'react'
import { keptResult } from '../../api/results-api.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Button } from '../button.tsx'
import { Problem } from '../problem.tsx'
import { mediaKind } from './content-blocks.ts'
import { saveBlob } from './download.tsx'
import { MediaPart } from './media-part.tsx'
import { ValueView } from './value-view.tsx'

interface Props {
  /** `result://…` */
  handle: string
  /** What it is, if known. */
  description?: string | undefined
}

/** The full version of a result that was too long for the model, while the gateway keeps it: to show or save. */
export function KeptResult({ handle, description = 'The full result is kept for a while.' }: Props) {
  const [shown, setShown] = useState<Shown>()
  const [problem, setProblem] = useState<string>()
  const load = async (use: (blob: Blob) => Promise<void> | void) => {
    const kept = await keptResult(handle)
    setProblem('problem' in kept ? kept.problem : undefined)
    if ('blob' in kept) await use(kept.blob)
  }
  return (
    <div className="kept">
      <div className="toolbar">
        <span>
          {description} <code>{oneLine(handle, 80)}</code>
        </span>
        <Button
          look="quiet"
          icon="readOnly"
          onClick={() => void load(async blob => setShown(await shownOf(blob)))}
        >
          Show full result
        </Button>
        <Button
          look="quiet"
          icon="download"
          onClick={() => void load(blob => saveBlob(blob, fileName(handle, blob)))}
        >
          Download
        </Button>
      </div>
      <Problem text={problem} />
      {shown &&
        ('text' in shown ? <ValueView value={shown.text} label="Full result" /> : <Media {...shown} />)}
    </div>
  )
}

type Shown = { text: string } | { blob: Blob; kind: 'image' | 'audio' }

/** How to show a result, by its type. */
async function shownOf(blob: Blob): Promise<Shown> {
  const kind = mediaKind(blob.type)
  return kind === undefined ? { text: await blob.text() } : { blob, kind }
}

function Media({ blob, kind }: { blob: Blob; kind: 'image' | 'audio' }) {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(blob)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return address === undefined ? null : <MediaPart kind={kind} address={address} mimeType={blob.type} />
}

const ENDINGS: Record<string, string> = {
  'application/json': 'json',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

function fileName(handle: string, { type }: Blob): string {
  const base = type.split(';')[0] ?? ''
  return `${handle.replace('result://', 'result-').slice(0, 60)}.${ENDINGS[base] ?? base.split('/')[1] ?? 'bin'}`
}
