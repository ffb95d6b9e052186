import type { Proctoring } from '../../../domain/assessments/assessment-input.ts'

/** Formats with their labels, for selects. */
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

/** The label of a value, or the value itself if it has none. */
export const labelOf = (labels: [value: string, label: string][], value: string): string =>
  labels.find(([word]) => word === value)?.[1] ?? value

export function labelRequirements(proctoring: Proctoring): string[] {
  const requirements: [boolean, string][] = [
    [proctoring.screenRecording, 'screen recording'],
    [proctoring.webcamMonitoring, 'webcam'],
    [proctoring.requireIdCapture, 'ID photo'],
    [proctoring.facePhotoRequired, 'face photo'],
  ]
  return requirements.filter(([isDemanded]) => isDemanded).map(([, name]) => name)
}
