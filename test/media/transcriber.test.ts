import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createTranscriber } from '../../src/media/transcriber.ts'
import type { TranscriptionFormat } from '../../src/media/transcription-answer.ts'
import { answerWith } from '../support/receiver.ts'
import { startTranscriber, verbose } from '../support/transcriber.ts'

const server = await startTranscriber()
const folder = await mkdtemp(path.join(tmpdir(), 'transcriber-'))
afterAll(() => rm(folder, { recursive: true }))
const file = path.join(folder, 'sound')
await writeFile(file, 'sound')

const transcribe = (format: TranscriptionFormat, language: string | null = null, url = server.url) =>
  createTranscriber({ url, key: undefined, model: 'm', format, fields: [], maxBytes: 1_000 }).transcribe({
    ...{ path: file, contentType: 'audio/webm', milliseconds: 3_000, language },
  })
const json = (body: object | string) => answerWith(200, {}, typeof body === 'string' ? body : JSON.stringify(body))
const certain = { isUncertain: false }

describe('a response', () => {
  it('is read with its times, and with low-confidence segments marked as uncertain', async () => {
    server.behave(
      verbose(
        { start: 0, end: 1.5, text: ' One', avg_logprob: -0.3, no_speech_prob: 0.9, compression_ratio: 1 },
        { start: 1.5, end: 2, text: ' Two', avg_logprob: -1.1, no_speech_prob: 0.61, compression_ratio: 1 },
        { start: 2, end: 3, text: ' na na na na', compression_ratio: 2.5 },
        { text: ' Three\u0007' },
      ),
    )
    expect(await transcribe('verbose_json')).toEqual({
      language: 'en',
      segments: [
        { startMs: 0, endMs: 1_500, text: ' One', ...certain },
        { startMs: 1_500, endMs: 2_000, text: ' Two', isUncertain: true },
        { startMs: 2_000, endMs: 3_000, text: ' na na na na', isUncertain: true },
        { startMs: null, endMs: null, text: ' Three ', ...certain },
      ],
    })
  })

  it('is read from WebVTT, with and without hours', async () => {
    server.behave(
      json(
        'WEBVTT\r\n\r\n1\r\n00:01.500 --> 00:02.000 align:start\r\n<v A>Hello\r\nyou\r\n\r\n01:00:00.000 --> 01:00:01.000\r\nLate\r\n',
      ),
    )
    expect(await transcribe('vtt', 'pt-BR')).toEqual({
      language: 'pt',
      segments: [
        { startMs: 1_500, endMs: 2_000, text: 'Hello you', ...certain },
        { startMs: 3_600_000, endMs: 3_601_000, text: 'Late ', ...certain },
      ],
    })
  })

  it('is one segment without times if the server returns no times', async () => {
    const untimed = { language: '', segments: [{ startMs: null, endMs: null, text: 'Hello', ...certain }] }
    for (const format of ['json', 'verbose_json'] as const) {
      server.behave(json({ text: 'Hello' }))
      expect(await transcribe(format)).toEqual(untimed)
    }
  })

  it.each([
    ['verbose_json', '<html>secret words</html>'],
    ['verbose_json', 'null'],
    ['verbose_json', '{}'],
    ['verbose_json', '{"segments":[{"start":0}]}'],
    ['json', '{"text":1}'],
    ['json', ''],
    ['vtt', '{"text":"secret words"}'],
    ['vtt', 'WEBVTT\n\nnow --> later\nsecret words'],
    ['json', JSON.stringify({ text: 'x'.repeat(2_000_001) })],
  ] as const)('in the format %s is refused without its words: %j', async (format, body) => {
    server.behave(json(body))
    await expect(transcribe(format)).rejects.toMatchObject({
      failure: 'unreadable',
      message: expect.not.stringContaining('secret'),
    })
  })
})

it.each([
  [400, 'refused'],
  [401, 'unavailable'],
  [403, 'unavailable'],
  [404, 'unavailable'],
  [413, 'too_large'],
  [422, 'refused'],
  [429, 'unavailable'],
  [500, 'no_answer'],
  [502, 'unavailable'],
  [503, 'unavailable'],
])('takes the status %i as %s', async (status, failure) => {
  server.behave(answerWith(status, {}, 'secret words'))
  await expect(transcribe('json')).rejects.toMatchObject({
    failure,
    message: `The speech recognition service answered ${status}`,
  })
})

it('waits as long as the server asks, up to ten minutes', async () => {
  for (const [asked, ms] of [
    ['7', 7_000],
    ['86400', 600_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['soon', undefined],
  ] as const) {
    server.behave(answerWith(429, { 'retry-after': asked }))
    await expect(transcribe('json')).rejects.toMatchObject({ failure: 'unavailable', retryAfterMs: ms })
  }
})

it('reports an unreachable server as unavailable', async () => {
  await expect(transcribe('json', null, 'http://127.0.0.1:1/v1')).rejects.toMatchObject({ failure: 'unavailable' })
})

it('follows no redirect, so that the key and the recording reach only the configured host', async () => {
  server.behave(answerWith(307, { location: 'http://127.0.0.1:1/' }))
  await expect(transcribe('json')).rejects.toMatchObject({ failure: 'unavailable' })
})
