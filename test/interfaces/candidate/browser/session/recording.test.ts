import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  advance,
  beginRecording,
  type Effect,
  type Recording,
  type RecordingEvent,
  resumeRecording,
} from '../../../../../src/interfaces/candidate/browser/session/recording.ts'

const begun = beginRecording('a', 'audio', 1_000)
const record = (end: number, segment = 0): RecordingEvent => ({ is: 'recorded', segment, end })
const settle = (is: 'partSaved' | 'partLost', number: number, segment = 0): RecordingEvent => ({ is, part: { segment, number } })
const [ended, completed]: RecordingEvent[] = [{ is: 'ended' }, { is: 'completed' }]
const refuse = (code: string): RecordingEvent => ({ is: 'refused', code })

/** Applies the events one after the other, and collects their effects. */
function go(happenings: RecordingEvent[], from: Recording = begun) {
  let recording = from
  const effects: Effect[] = []
  for (const happening of happenings) {
    const [next, effect] = advance(recording, happening)
    recording = next
    if (effect) effects.push(effect)
  }
  const { state, failure, saved, recorded } = recording
  return { recording, effects, state, failure, saved, recorded }
}

const two = [record(2), record(4)]
const saved = [settle('partSaved', 0), settle('partSaved', 1)]

it('completes a recording after its end once all parts are saved, in any order', () => {
  expect(go([...two, settle('partSaved', 1)])).toMatchObject({ saved: 0, recorded: 4, effects: [] })
  expect(go([...two, ...saved])).toMatchObject({ saved: 4, state: 'recording', effects: [] })
  for (const order of [
    [...saved, ended!],
    [ended!, ...saved],
    [saved[1]!, ended!, saved[0]!],
  ])
    expect(go([...two, ...order])).toMatchObject({ saved: 4, state: 'completing', effects: ['complete'] })
  expect(go([...two, ...saved, ended!, completed!])).toMatchObject({
    state: 'saved',
    failure: '',
    effects: ['complete', 'settle'],
  })
  expect(go([record(2), record(4, 2), ended!]).recording.segments).toEqual([1, undefined, 1])
})

it('completes a recording with gaps if the browser has lost parts', () => {
  const lost = [...two, settle('partLost', 0), settle('partSaved', 1), ended!, refuse('parts_missing')]
  expect(go(lost)).toMatchObject({ saved: 0, effects: ['complete', 'completeWithGaps'] })
  expect(go([...lost, completed!])).toMatchObject({ state: 'saved', failure: 'parts_missing' })
  expect(go([...lost, refuse('parts_missing')])).toMatchObject({ state: 'failed', failure: 'parts_missing' })
})

it.each(['closed', 'submitted'])('marks a recording as saved if the service completed it by itself: %s', (code) => {
  expect(go([...two, ...saved, ended!, refuse(code)])).toMatchObject({ state: 'saved', failure: '' })
  expect(go([...two, refuse(code)])).toMatchObject({ state: 'failed', failure: code })
})

it('abandons a recording if nothing was recorded', () => {
  expect(go([ended!])).toMatchObject({ effects: ['abandon'] })
  for (const answer of [completed!, refuse('closed')])
    expect(go([ended!, answer])).toMatchObject({ state: 'failed', failure: 'empty', effects: ['abandon', 'settle'] })
})

it('resumes a recording with the parts that are stored locally and missing on the service', () => {
  const left = [0, 1, 2].map((number) => ({ mediaId: 'a', segment: 1, number }))
  const upload = {
    mediaId: 'a',
    kind: 'audio',
    segments: [
      { segment: 0, parts: [0, 1, 2] },
      { segment: 1, parts: [1] },
    ],
  }
  const { segments, parts } = resumeRecording(upload, [...left, { mediaId: 'b', segment: 0, number: 7 }], 0)
  expect([segments, parts.map(({ segment, number }) => [segment, number])]).toEqual([
    [3, 3],
    [
      [1, 0],
      [1, 1],
      [1, 2],
    ],
  ])
  expect(resumeRecording({ ...upload, segments: [] }, [], 0).segments).toEqual([])
  expect(go([ended!], resumeRecording(upload, [], 0)).effects).toEqual(['complete'])
})

/** False for impossible events: nothing is recorded after the end, and only a completing recording is completed. */
const isPossible = ({ is }: RecordingEvent, { state }: Recording): boolean =>
  is === 'recorded' ? state === 'recording' : is !== 'completed' || state === 'completing'

it('keeps an interrupted recording, and completes it after it was continued', () => {
  const [interrupted, continued]: RecordingEvent[] = [{ is: 'interrupted' }, { is: 'continued' }]
  expect(go([...two, interrupted!, ...saved])).toMatchObject({ state: 'interrupted', saved: 4, effects: [] })
  const whole = [...two, ...saved, interrupted!, continued!, record(6, 1), settle('partSaved', 0, 1), ended!]
  expect(go(whole)).toMatchObject({ state: 'completing', saved: 6, effects: ['complete'] })
  expect(go([...two, ...saved, interrupted!, ended!])).toMatchObject({ effects: ['complete'] })
})

it('settles a recording once, and never completes it while a part waits', () => {
  const answers = [completed!, refuse('parts_missing'), refuse('closed'), refuse('quota')]
  const any = fc.constantFrom(
    ...[record(1), record(2, 1), ended!, ...saved, settle('partLost', 0), settle('partSaved', 0, 1), ...answers],
  )
  fc.assert(
    fc.property(fc.array(any, { maxLength: 30 }), (happenings) => {
      let recording = begun
      const effects: (Effect | undefined)[] = []
      for (const happening of happenings) {
        if (!isPossible(happening, recording)) continue
        const [next, effect] = advance(recording, happening)
        if (next.state === 'completing') expect(next.parts.filter(({ is }) => is === 'waiting')).toEqual([])
        recording = next
        effects.push(effect)
      }
      const isOver = recording.state === 'saved' || recording.state === 'failed'
      expect(effects.filter((effect) => effect === 'settle')).toHaveLength(isOver ? 1 : 0)
    }),
  )
})
