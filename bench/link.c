/* A switch with slow cables, for kernels without netem: makes a tap device for each NAME and carries frames
 * between them.
 *   link [-d DELAY] [-l LOSS] [-r RATE] [-s SEED] NAME...
 * DELAY in milliseconds, LOSS in percent of the frames, RATE in Gb/s; each holds for what a machine sends, as
 * netem on its interface would. Prints "ready" once the devices are there; they can then be moved into
 * network namespaces. Ends with a signal, and says how many frames it carried and lost.
 *
 * Without loss the devices hand over segments of up to 64 KB, which is how a user-space program keeps up with
 * several Gb/s; the time on the wire is that of the frames they stand for. With loss every frame is one of at
 * most 1,514 bytes, so that they are lost one by one. */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    PORTS = 16,
    FRAME = 65536 + 64, /* with its virtio header */
    HEADERS = 66,     /* Ethernet, IP, TCP with timestamps: repeated in every frame of a segment */
    GAP = 24,         /* preamble, checksum and space between two frames */
    QUEUED = 8 << 20, /* bytes that a port holds; what comes beyond them is lost */
};

typedef struct frame {
    struct frame *next;
    double due; /* when it arrives */
    size_t size;
    unsigned char bytes[];
} frame;

typedef struct port {
    int fd;
    frame *first, *last; /* on their way, in the order in which they arrive */
    size_t queued;
    double free_at; /* when the cable has sent all of them */
    unsigned char address[6];
    bool known;
} port;

static port ports[PORTS];
static size_t port_count;
static double delay, loss, rate;
static uint64_t state = 1, carried, lost, full;
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(void) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static int make_device(const char *name, bool segments)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    unsigned offload = segments ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 : 0;
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0 || ioctl(fd, TUNSETOFFLOAD, offload) != 0) {
        fprintf(stderr, "link: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return fd;
}

/* Bytes that a frame, or the frames of a segment, take on the wire. */
static double wire_bytes(const unsigned char *bytes, size_t size)
{
    struct virtio_net_hdr head;
    memcpy(&head, bytes, sizeof head);
    double body = (double)(size - sizeof head), frames = 1;
    if (head.gso_type != VIRTIO_NET_HDR_GSO_NONE && head.gso_size > 0 && head.hdr_len < body) {
        frames = (body - head.hdr_len) / head.gso_size;
        frames = frames > (double)(uint64_t)frames ? (double)((uint64_t)frames + 1) : frames;
    }
    return body + (frames - 1) * HEADERS + frames * GAP;
}

/* Takes one frame from a device. False: there is none. */
static bool take(port *p)
{
    static unsigned char bytes[FRAME];
    ssize_t got = read(p->fd, bytes, sizeof bytes);
    if (got <= (ssize_t)sizeof(struct virtio_net_hdr) + 14)
        return false;
    size_t size = (size_t)got;
    memcpy(p->address, bytes + sizeof(struct virtio_net_hdr) + 6, 6);
    p->known = true;
    if (p->queued + size > QUEUED) {
        full++;
        return true;
    }
    if (loss > 0 && uniform() < loss) {
        lost++;
        return true;
    }
    frame *f = malloc(sizeof *f + size);
    if (f == NULL)
        return true;
    double began = now();
    began = began > p->free_at ? began : p->free_at;
    p->free_at = began + (rate > 0 ? wire_bytes(bytes, size) / rate : 0);
    *f = (frame){NULL, p->free_at + delay, size};
    memcpy(f->bytes, bytes, size);
    *(p->first == NULL ? &p->first : &p->last->next) = f;
    p->last = f;
    p->queued += size;
    return true;
}

/* Delivers what has arrived. Returns when the next frame does; 0: none is on its way. */
static double deliver(port *p)
{
    while (p->first != NULL && p->first->due <= now()) {
        frame *f = p->first;
        const unsigned char *to = f->bytes + sizeof(struct virtio_net_hdr);
        bool found = false;
        for (size_t i = 0; i < port_count && (to[0] & 1) == 0; i++)
            if (ports[i].known && memcmp(ports[i].address, to, 6) == 0) {
                found = true;
                if (&ports[i] != p && write(ports[i].fd, f->bytes, f->size) < 0)
                    full++;
            }
        for (size_t i = 0; i < port_count && !found; i++)
            if (&ports[i] != p && write(ports[i].fd, f->bytes, f->size) < 0)
                full++;
        carried++;
        p->queued -= f->size;
        p->first = f->next;
        free(f);
    }
    return p->first != NULL ? p->first->due : 0;
}

static void carry(void)
{
    struct pollfd waiting[PORTS];
    while (!stopped) {
        double next = 0;
        for (size_t i = 0; i < port_count; i++) {
            for (int burst = 0; burst < 64 && take(&ports[i]); burst++)
                ;
            double due = deliver(&ports[i]);
            next = due > 0 && (next == 0 || due < next) ? due : next;
            waiting[i] = (struct pollfd){.fd = ports[i].fd, .events = POLLIN};
        }
        double left = next > 0 ? next - now() : 1;
        left = left > 0 ? left : 0;
        struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        ppoll(waiting, port_count, &pause, NULL);
    }
}

static double number(const char *text, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(value >= 0 && value <= most)) {
        fprintf(stderr, "link: '%s' is not a number from 0 to %g\n", text, most);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "d:l:r:s:")) != -1;) {
        if (option == 'd')
            delay = number(optarg, 10000) * 1e-3;
        else if (option == 'l')
            loss = number(optarg, 100) * 1e-2;
        else if (option == 'r')
            rate = number(optarg, 1000) * 1e9 / 8;
        else if (option == 's')
            state = 0x9E3779B97F4A7C15u ^ (uint64_t)number(optarg, 1e9);
        else
            return 2;
    }
    if (optind == argc || argc - optind > PORTS) {
        fprintf(stderr, "link: name 1 to %d devices\n", PORTS);
        return 2;
    }
    for (; optind < argc; optind++)
        ports[port_count++].fd = make_device(argv[optind], loss == 0);
    prctl(PR_SET_TIMERSLACK, 1UL);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    puts("ready");
    fflush(stdout);
    carry();
    fprintf(stderr, "link: carried %llu frames, lost %llu, had no room for %llu\n",
            (unsigned long long)carried, (unsigned long long)lost, (unsigned long long)full);
    return 0;
}
