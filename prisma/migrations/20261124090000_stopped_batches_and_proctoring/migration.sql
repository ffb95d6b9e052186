-- AlterTable
ALTER TABLE "assessments" ADD COLUMN     "face_photo_required" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "require_id_capture" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "screen_recording" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "webcam_monitoring" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "invite_batches" ADD COLUMN     "stopped_at" TIMESTAMPTZ(3);
