import type { Proctoring } from '../../../domain/assessments/assessment-input.ts'

/** The formats, as lists to choose from show them. */
export const FORMAT_LABELS: [value: string, label: string][] = [
  ['text', 'Text'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['mixed', 'Text, audio or video'],
]
export const AUDIENCE_LABELS: [value: string, label: string][] = [
  ['invite_only', 'By invitation only'],
  ['public', 'Public'],
]

/** The label of a word of such a list; another word as it is. */
export const labelOf = (labels: [value: string, label: string][], value: string): string =>
  labels.find(([word]) => word === value)?.[1] ?? value

/** What is asked of a candidate besides answers. */
export function demandsOf(said: Proctoring): string[] {
  const all: [boolean, string][] = [
    [said.screenRecording, 'screen recording'],
    [said.webcamMonitoring, 'webcam'],
    [said.requireIdCapture, 'ID photo'],
    [said.facePhotoRequired, 'face photo'],
  ]
  return all.filter(([isDemanded]) => isDemanded).map(([, name]) => name)
}
