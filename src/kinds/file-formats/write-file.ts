import { BYTE_ORDER_MARK, toCsv } from '../../http/sending/csv.ts'
import type { NeutralQuestion } from '../neutral.ts'
import type { FileFormat } from './read-file.ts'
import { createGiftWriter, giftLosses } from './write-gift.ts'
import { createMoodleXmlWriter, moodleXmlLosses } from './write-moodle-xml.ts'
import { TABLE_HEAD, tableLosses, writeRow } from './write-table.ts'
import { createXlsxWriter } from './write-xlsx.ts'

type Chunk = string | Uint8Array

/** Streaming writer: each call returns the next chunk of the file. */
type FileWriter = { write: (questions: readonly NeutralQuestion[]) => Chunk; end: () => Chunk }

/** @property losses sentences about content that the format can't hold. @property hasPictures true if it contains the files of questions. */
type FileWriterFormat = {
  type: string
  ending: string
  hasPictures?: true
  losses: (question: NeutralQuestion) => string[]
  create: () => FileWriter
}

export const fileWriters: Record<FileFormat, FileWriterFormat> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    ending: 'csv',
    losses: tableLosses,
    create: () => {
      let head = BYTE_ORDER_MARK + toCsv([TABLE_HEAD])
      return {
        write(questions) {
          // Each row separately: toCsv's escaping depends on the preceding text.
          const part = head + questions.map((question) => toCsv([writeRow(question)])).join('')
          head = ''
          return part
        },
        end: () => head,
      }
    },
  },
  xlsx: {
    type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ending: 'xlsx',
    losses: tableLosses,
    create: () => {
      const { write, end } = createXlsxWriter()
      const head = write([TABLE_HEAD])
      let isBegun = false
      return {
        write(questions) {
          const part = write(questions.map(writeRow))
          if (isBegun) return part
          isBegun = true
          return Buffer.concat([head, part])
        },
        end: () => (isBegun ? end() : Buffer.concat([head, end()])),
      }
    },
  },
  gift: {
    type: 'text/plain; charset=utf-8',
    ending: 'gift.txt',
    losses: giftLosses,
    create: () => ({ write: createGiftWriter(), end: () => '' }),
  },
  moodle: {
    type: 'application/xml; charset=utf-8',
    ending: 'moodle.xml',
    hasPictures: true,
    losses: moodleXmlLosses,
    create: createMoodleXmlWriter,
  },
}
