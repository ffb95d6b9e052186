-- When each part of the scheduled sweep last came to its end: a part that stands still is seen by it, whichever process it was.
CREATE TABLE "sweep_parts" (
  "part" TEXT NOT NULL,
  "ended_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "sweep_parts_pkey" PRIMARY KEY ("part")
);
