import type { Answering } from '../../domain/ports/question-kind.ts'
import type { PlainKind } from '../kind.ts'
import { recordingControl } from './candidate.ts'

const WAYS = {
  audio: { savedBy: ['recording'], records: ['audio'], needs: ['microphone'] },
  video: { savedBy: ['recording'], records: ['video'], needs: ['camera', 'microphone'] },
  // A recording is possible, and nothing is needed for it.
  mixed: { savedBy: ['text', 'recording'], records: ['audio', 'video'], needs: [] },
} as const satisfies Record<string, Answering>

export const isRecordingWord = (word: string): word is keyof typeof WAYS => Object.hasOwn(WAYS, word)

/** A recording, or whichever of it and a text the candidate likes. */
export const recording: PlainKind = {
  words: Object.keys(WAYS),
  offers: [
    { word: 'audio', label: 'Audio', line: 'A recording of their voice', icon: 'mic' },
    { word: 'video', label: 'Video', line: 'A recording with the camera', icon: 'video' },
    { word: 'mixed', label: 'Any of these', line: 'Writing, voice or camera, as they choose', icon: 'shapes' },
  ],
  answering: (word) => WAYS[word as keyof typeof WAYS],
  control: recordingControl,
}
