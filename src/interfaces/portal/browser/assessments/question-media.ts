import { MAX_PART_BYTES, MAX_PROMPT_BYTES } from '../../../../domain/limits.ts'
import { createButton, createElement, setText } from '../../../../http/browser/dom.ts'
import { requestWithRetry } from '../../../../http/browser/retry.ts'

// Audio and video of a question, chosen as a file or recorded here. They are uploaded in slices while the form is filled in.

const TRY_MS = 20_000
const LOOK_AGAIN_MS = 1_000
const SLICE_MS = 2_000
/** Preferred types first; the browser's first supported type is used. */
const TYPES = {
  audio: ['audio/webm;codecs=opus', 'audio/mp4'],
  video: ['video/webm;codecs=vp8,opus', 'video/webm', 'video/mp4'],
}
type Kind = keyof typeof TYPES

/** An error whose message is shown to the author. */
class Problem extends Error {}

export function addMediaControls(form: HTMLFormElement): void {
  for (const kind of ['audio', 'video'] as const) {
    const field = form.querySelector<HTMLInputElement>(`#${kind}Url`)
    if (field) addControl(form, field, kind)
  }
}

function addControl(form: HTMLFormElement, field: HTMLInputElement, kind: Kind): void {
  const base = `${new URL(form.action).pathname.split('/assessments/')[0]}/question-media`
  const line = createElement('p', { class: 'hint mt-1.5', role: 'status' })
  const file = createElement('input', {
    type: 'file',
    class: 'file-input file-input-sm max-w-full',
    accept: 'audio/*,video/*',
    'aria-label': `Upload ${kind}`,
  })
  const record = createButton(`Record ${kind}`, () => void run(recorded))
  record.className = 'btn btn-sm'
  record.hidden = typeof MediaRecorder === 'undefined'
  const stop = createButton('Stop recording', () => {})
  stop.className = 'btn btn-sm'
  stop.hidden = true
  file.addEventListener('change', () => file.files?.[0] && void run(() => chosen(file.files![0]!)))
  field.after(createElement('div', { class: 'mt-2 flex flex-wrap items-center gap-2' }, file, record, stop), line)

  async function run(slices: () => AsyncGenerator<Blob>): Promise<void> {
    file.disabled = record.disabled = true
    try {
      setText(line, 'Starting…')
      const { id, address } = await post<{ id: string; address: string }>(base, new URLSearchParams({ kind }))
      const count = await send(`${base}/${id}/parts/0`, slices())
      if (count === 0) throw new Problem('Nothing was recorded.')
      setText(line, 'Being processed…')
      await post(`${base}/${id}/complete`, new URLSearchParams({ segments: String(count) }))
      const seconds = Math.round((await waitUntilReady(`${base}/${id}`)) / 1_000)
      field.value = address
      field.dispatchEvent(new Event('input', { bubbles: true }))
      setText(line, `Ready: ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}. Save the question to keep it.`)
    } catch (error) {
      setText(line, error instanceof Problem ? error.message : 'This did not work. Please try again.')
    } finally {
      file.disabled = record.disabled = false
      stop.hidden = true
      record.hidden = typeof MediaRecorder === 'undefined'
      file.value = ''
    }
  }

  async function* chosen(whole: File): AsyncGenerator<Blob> {
    if (whole.size > MAX_PROMPT_BYTES) throw new Problem(`This file is larger than ${MAX_PROMPT_BYTES / 1e6} MB.`)
    yield whole
  }

  async function send(address: string, slices: AsyncGenerator<Blob>): Promise<number> {
    let [count, sent] = [0, 0]
    for await (const slice of slices)
      for (let from = 0; from < slice.size; from += MAX_PART_BYTES) {
        const part = await slice.slice(from, from + MAX_PART_BYTES).arrayBuffer()
        await post(`${address}/${count++}`, part)
        sent += part.byteLength
        setText(line, `${(sent / 1e6).toFixed(1)} MB saved`)
      }
    return count
  }

  async function* recorded(): AsyncGenerator<Blob> {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: kind === 'video' }).catch(() => {
      throw new Problem('The browser blocks the microphone or camera. Allow both for this page, then try again.')
    })
    const mimeType = TYPES[kind].find((type) => MediaRecorder.isTypeSupported(type))
    const recorder = new MediaRecorder(stream, mimeType ? { mimeType } : {})
    const waiting: Blob[] = []
    let wake = () => {}
    recorder.ondataavailable = ({ data }) => {
      waiting.push(data)
      wake()
    }
    recorder.onstop = () => wake()
    stop.onclick = () => recorder.stop()
    recorder.start(SLICE_MS)
    record.hidden = true
    stop.hidden = false
    stop.focus()
    try {
      while (recorder.state !== 'inactive' || waiting.length > 0) {
        const next = waiting.shift()
        if (next) yield next
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      if (recorder.state !== 'inactive') recorder.stop()
      for (const track of stream.getTracks()) track.stop()
    }
  }
}

/** Retries until the server answers. @throws Problem with the server's message. */
async function post<Answer>(address: string, body: URLSearchParams | ArrayBuffer): Promise<Answer> {
  const headers = body instanceof ArrayBuffer ? { 'content-type': 'application/octet-stream' } : {}
  const ask = () => fetch(address, { method: 'POST', body, headers, redirect: 'manual', signal: AbortSignal.timeout(TRY_MS) })
  const answer = (await requestWithRetry(ask, () => true))!
  if (answer.ok) return (await answer.json()) as Answer
  const mistakes = answer.status === 422 ? ((await answer.json()) as { mistakes: string[] }).mistakes : []
  throw new Problem(mistakes[0] ?? 'This did not work. Please try again, or sign in in another window first.')
}

/** @returns its duration in milliseconds. */
async function waitUntilReady(address: string): Promise<number> {
  for (;;) {
    const answer = await requestWithRetry(
      () => fetch(address, { signal: AbortSignal.timeout(TRY_MS) }),
      () => true,
    )
    const { state, milliseconds } = (await answer!.json()) as { state: string; milliseconds: number | null }
    if (state === 'ready') return milliseconds ?? 0
    if (state === 'failed')
      throw new Problem('This file can’t be played: it is damaged, or has the wrong file type. Choose another file.')
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}
