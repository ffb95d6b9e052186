import type { Answering } from '../../domain/ports/question-kind.ts'
import { html } from '../../html/html.ts'
import type { Control } from '../control.ts'
import type { PlainKind } from '../kind.ts'

/** The page's script renders the recorder in `data-recorder`. */
const recordingControl: Control = (t, { isWritten }) =>
  html`<div data-recorder></div>${
    !isWritten &&
    html`
<noscript><div class="notice alert alert-soft alert-warning my-4"><p>${t.text('question.noscript')}</p></div></noscript>`
  }`

const ANSWERING = {
  audio: { savedBy: ['recording'], records: ['audio'], needs: ['microphone'] },
  video: { savedBy: ['recording'], records: ['video'], needs: ['camera', 'microphone'] },
  // No device is needed, because a text is possible.
  mixed: { savedBy: ['text', 'recording'], records: ['audio', 'video'], needs: [] },
} as const satisfies Record<string, Answering>

export const isRecordingWord = (word: string): word is keyof typeof ANSWERING => Object.hasOwn(ANSWERING, word)

/** A recording, or a text instead (`mixed`). */
export const recordingKind: PlainKind = {
  words: Object.keys(ANSWERING),
  offers: [
    { word: 'audio', label: 'Audio', description: 'A recording of their voice', icon: 'mic' },
    { word: 'video', label: 'Video', description: 'A recording with the camera', icon: 'video' },
    { word: 'mixed', label: 'Any of these', description: 'Text, audio, or video, as they choose', icon: 'shapes' },
  ],
  answering: (word) => ANSWERING[word as keyof typeof ANSWERING],
  control: recordingControl,
}
