// A Plane draws points on a canvas, which shows a part of them, and finds them again. Points
// are painted pixel by pixel: 100 000 take a few milliseconds.

const margin = 24; // around all points, in CSS pixels
const closest = 64; // times the size at which all points are seen

export class Plane {
  #canvas;
  #context;
  #scale = 1; // CSS pixels of a unit
  #left = 0; // where (0, 0) is
  #top = 0;
  #whole = 1; // the scale at which all is seen
  #image = null;
  #size = [0, 0]; // in CSS pixels

  x = [];
  y = [];
  shown = []; // numbers of the points that are drawn

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
  }

  get width() { return this.#canvas.clientWidth; }
  get height() { return this.#canvas.clientHeight; }

  // resize fits the pixels of the canvas to its size, with the same in the middle; it reports
  // whether there are any.
  resize() {
    this.pan((this.width - this.#size[0]) / 2, (this.height - this.#size[1]) / 2);
    this.#size = [this.width, this.height];
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (width > 0 && height > 0 && (width !== this.#canvas.width || height !== this.#canvas.height || !this.#image)) {
      [this.#canvas.width, this.#canvas.height] = [width, height];
      this.#image = this.#context.createImageData(width, height);
    }
    return width > 0 && height > 0;
  }

  // fit shows all of some points.
  fit(points, largest = 1) {
    const [xs, ys] = [this.x, this.y].map((of) => points.reduce(([low, high], i) =>
      [Math.min(low, of[i]), Math.max(high, of[i])], [Infinity, -Infinity]));
    const room = (side) => Math.max(20, side - 2 * margin);
    const all = Math.min(room(this.width) / Math.max(1, xs[1] - xs[0]), room(this.height) / Math.max(1, ys[1] - ys[0]));
    if (largest === 1) {
      this.#whole = all;
    }
    this.#scale = Math.min(all, largest * this.#whole);
    this.#left = this.width / 2 - this.#scale * (xs[0] + xs[1]) / 2;
    this.#top = this.height / 2 - this.#scale * (ys[0] + ys[1]) / 2;
  }

  pan(dx, dy) {
    this.#left += dx;
    this.#top += dy;
  }

  // zoom makes everything larger by a factor; what is at (x, y) of the canvas stays there.
  zoom(factor, x, y) {
    const scale = Math.max(this.#whole / 2, Math.min(closest * this.#whole, this.#scale * factor));
    this.#left = x - (x - this.#left) * scale / this.#scale;
    this.#top = y - (y - this.#top) * scale / this.#scale;
    this.#scale = scale;
  }

  // at returns where a place of the points is on the canvas, from is the other way round.
  at([x, y]) { return [this.#left + this.#scale * x, this.#top + this.#scale * y]; }
  from([x, y]) { return [(x - this.#left) / this.#scale, (y - this.#top) / this.#scale]; }
  atPoint(i) { return this.at([this.x[i], this.y[i]]); }

  // radius of a point, in CSS pixels: smaller if there are more, larger if they are seen closely.
  get radius() {
    const room = Math.sqrt(this.width * this.height / Math.max(1, this.shown.length));
    return Math.min(8, Math.max(1.5, Math.min(6, 0.18 * room)) * Math.cbrt(Math.max(1, this.#scale / this.#whole)));
  }

  // nearest returns the point nearest to a place on the canvas, no further than some pixels.
  nearest(place, within) {
    const [x, y] = this.from(place);
    let [best, least] = [-1, (within / this.#scale) ** 2];
    for (const i of this.shown) {
      const away = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (away <= least) {
        [best, least] = [i, away];
      }
    }
    return best;
  }

  // inside returns the points within a polygon on the canvas.
  inside(polygon) {
    const corners = polygon.map((corner) => this.from(corner));
    const [left, right] = [Math.min(...corners.map(([x]) => x)), Math.max(...corners.map(([x]) => x))];
    return this.shown.filter((i) => {
      const [x, y] = [this.x[i], this.y[i]];
      if (x < left || x > right) {
        return false;
      }
      let within = false;
      let [ax, ay] = corners.at(-1);
      for (const [bx, by] of corners) {
        if ((ay > y) !== (by > y) && x < ax + (bx - ax) * (y - ay) / (by - ay)) {
          within = !within;
        }
        [ax, ay] = [bx, by];
      }
      return within;
    });
  }

  // within returns the points in the rectangle between two places on the canvas.
  within([ax, ay], [bx, by]) {
    const [[left, top], [right, bottom]] =
      [this.from([Math.min(ax, bx), Math.min(ay, by)]), this.from([Math.max(ax, bx), Math.max(ay, by)])];
    return this.shown.filter((i) =>
      this.x[i] >= left && this.x[i] <= right && this.y[i] >= top && this.y[i] <= bottom);
  }

  // paint draws the points, those of later layers over others. colourOf returns the colour of
  // a point, 0xAABBGGRR, and ring that of the edge of some, drawn last; 0 for none.
  paint(colourOf, ring) {
    const pixels = new Uint32Array(this.#image.data.buffer);
    pixels.fill(0);
    const disc = halvesOf(this.radius * devicePixelRatio);
    const edge = halvesOf((this.radius + 2.5) * devicePixelRatio);
    const later = [];
    for (const i of this.shown) {
      if (ring(i)) {
        later.push(i);
      } else {
        this.#dot(pixels, i, disc, colourOf(i));
      }
    }
    for (const i of later) {
      this.#dot(pixels, i, edge, ring(i));
    }
    for (const i of later) {
      this.#dot(pixels, i, disc, colourOf(i));
    }
    this.#context.putImageData(this.#image, 0, 0);
  }

  #dot(pixels, i, halves, colour) {
    const { width, height } = this.#image;
    const ratio = devicePixelRatio;
    const cx = Math.round((this.#left + this.#scale * this.x[i]) * ratio);
    const cy = Math.round((this.#top + this.#scale * this.y[i]) * ratio);
    const reach = halves.length - 1;
    if (cx < -reach || cx > width + reach) {
      return;
    }
    const bottom = Math.min(height - 1, cy + reach);
    for (let y = Math.max(0, cy - reach); y <= bottom; y++) {
      const half = halves[Math.abs(y - cy)];
      const to = y * width + Math.min(width - 1, cx + half);
      for (let at = y * width + Math.max(0, cx - half); at <= to; at++) {
        pixels[at] = colour;
      }
    }
  }

  // lines draws over the points what draw does with the context, in CSS pixels.
  lines(colour, draw) {
    const c = this.#context;
    c.save();
    c.scale(devicePixelRatio, devicePixelRatio);
    c.strokeStyle = colour;
    c.lineWidth = 2;
    draw(c);
    c.restore();
  }
}

// halvesOf returns how far a disc goes to each side in its middle row and those that follow.
const halvesOf = (radius) =>
  Array.from({ length: Math.floor(radius) + 1 }, (_, dy) => Math.floor(Math.sqrt(radius * radius - dy * dy)));
