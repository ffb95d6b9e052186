import { addPicture } from '../../src/domain/assets/add-picture.ts'
import { asOperator } from './portal.ts'
import type { Service } from './service.ts'

const chunk = (type: string, content: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, Buffer.from(type, 'latin1'), content, Buffer.alloc(4)])
}

/** A PNG as far as the service reads one. @param told a text in it that is no part of the picture. @param seed makes it another. */
export function png(width = 40, height = 30, { told = '', seed = '' } = {}): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...(told ? [chunk('tEXt', Buffer.from(told))] : []),
    chunk('IDAT', Buffer.from(seed)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A picture of an organization's, another with each call. @returns its id. */
export const makePicture = (service: Service, organizationId: string): Promise<string> =>
  addPicture(asOperator(service, { id: organizationId, name: '' }), png(40, 30, { seed: service.deps.newId() }))
