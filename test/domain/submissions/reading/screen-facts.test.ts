import { describe, expect, it } from 'vitest'
import { measureScreen, type ScreenFactsInput } from '../../../../src/domain/submissions/reading/screen-facts.ts'

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000)
const NOW = at(10_000)

/** A question that was open during these seconds. */
const open = (from: number, to: number | null): ScreenFactsInput['paper'][number] => ({
  openedAt: at(from),
  closedAt: to === null ? null : at(to),
  closesAt: null,
})
/** A playable screen recording. */
const recorded = (from: number, to: number): ScreenFactsInput['media'][number] => ({
  kind: 'screen',
  state: 'ready',
  createdAt: at(from),
  completedAt: at(to + 500),
  milliseconds: (to - from) * 1_000,
})
const taken = (of: Partial<ScreenFactsInput>): ScreenFactsInput => ({
  consentMedia: ['screen'],
  submittedAt: at(1_000),
  invite: { screenRecording: true, waivedChecks: [] },
  paper: [open(0, 100), open(200, 300)],
  media: [],
  notes: [],
  ...of,
})
/** Required and missing seconds. */
function seconds(of: Partial<ScreenFactsInput>) {
  const facts = measureScreen(taken(of), NOW)
  return facts && [facts.required / 1_000, facts.missing / 1_000]
}

describe('the missing part of a screen recording', () => {
  it('is zero if the screen was recorded whenever a question was open', () => {
    expect(seconds({ media: [recorded(-2, 301)] })).toEqual([200, 0])
    expect(seconds({ media: [recorded(-2, 110), recorded(190, 301)] })).toEqual([200, 0])
    expect(seconds({ media: [recorded(-2, 98), recorded(190, 301)] })).toEqual([200, 0]) // recordings may end a moment before the question
  })

  it('counts the gaps before, between, and after recordings, only while questions are open', () => {
    expect(seconds({})).toEqual([200, 200])
    expect(seconds({ media: [recorded(-2, 40), recorded(70, 110), recorded(250, 280)] })).toEqual([200, 30 + 50 + 20])
    expect(seconds({ media: [recorded(250, 280), recorded(-2, 40), recorded(10, 30)] })).toEqual([200, 60 + 50 + 20])
  })

  it('ends at the completion of a recording in processing, and now for one in progress', () => {
    const media = [{ ...recorded(-2, 0), state: 'joining' as const, completedAt: at(60), milliseconds: null }]
    expect(seconds({ media, paper: [open(0, 100)] })).toEqual([100, 40])
    const running = [{ ...recorded(-2, 0), state: 'uploading' as const, completedAt: null, milliseconds: null }]
    expect(seconds({ media: running, paper: [open(0, null)], submittedAt: null })).toEqual([10_000, 0])
    const abandoned = [{ ...recorded(-2, 0), state: 'deleted' as const, completedAt: null, milliseconds: null }]
    expect(seconds({ media: abandoned, paper: [open(0, 100)] })).toEqual([100, 100])
  })

  it('is not counted after a waiver, given at the start or later', () => {
    const invite = { screenRecording: true, waivedChecks: ['screen'] }
    expect(measureScreen(taken({ invite, consentMedia: [] }), NOW)).toEqual({ required: 0, missing: 0, waivedAt: null })
    const notes = [{ kind: 'waived_screen', at: at(60) }]
    expect(measureScreen(taken({ invite, notes, media: [recorded(-2, 40)] }), NOW)).toEqual({
      required: 60_000,
      missing: 20_000,
      waivedAt: at(60),
    })
  })

  it('is null if no screen recording was required', () => {
    expect(measureScreen(taken({ invite: { screenRecording: false, waivedChecks: [] } }), NOW)).toBeNull()
    expect(measureScreen(taken({ consentMedia: [] }), NOW)).toBeNull()
  })
})
